// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

func TestDeploymentReplicas(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		in   Input
		want int32
	}{
		"as many as the spec says":               {externalInput(withReplicas(5)), 5},
		"one where the spec was never defaulted": {externalInput(withReplicas(0)), 1},
		"embedded storage has one writer":        {embeddedInput(withReplicas(3)), 1},
		"hibernated":                             {externalInput(withHibernate), 0},
		"hibernated, embedded storage":           {embeddedInput(withHibernate), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := *BuildDeployment(test.in).Spec.Replicas; got != test.want {
				t.Errorf("got %d replicas, want %d", got, test.want)
			}
		})
	}
}

func TestDeploymentDeadline(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		rollout *v1alpha1.RolloutSpec
		want    int32
	}{
		"none said":                {nil, 600},
		"a rollout without one":    {&v1alpha1.RolloutSpec{Pause: true}, 600},
		"as long as the spec says": {&v1alpha1.RolloutSpec{Deadline: metav1.Duration{Duration: 90 * time.Second}}, 90},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := embeddedInput(func(instance *v1alpha1.Instance) { instance.Spec.Rollout = test.rollout })
			if got := *BuildDeployment(in).Spec.ProgressDeadlineSeconds; got != test.want {
				t.Errorf("got %d seconds, want %d", got, test.want)
			}
		})
	}
}

// TestDeploymentTemplate checks for each change of the input whether it replaces the
// pods. Settings that the server reloads must not.
func TestDeploymentTemplate(t *testing.T) {
	t.Parallel()
	edited := func(edit func(*Input)) Input {
		in := externalInput()
		edit(&in)
		return in
	}
	for name, test := range map[string]struct {
		in       Input
		replaces bool
	}{
		"another image":               {edited(func(in *Input) { in.Server.Image = "registry.example/apiserver:2" }), true},
		"another model version":       {edited(func(in *Input) { in.Models[0].Version = "2027-01-01T00:00:00Z" }), true},
		"another model":               {edited(func(in *Input) { in.Models[0].ID = "service-de" }), true},
		"another database URL":        {edited(func(in *Input) { in.DatabaseChecksum = "dddddddddd" }), true},
		"another hash":                {edited(func(in *Input) { in.TemplateHash = "dddddddddd" }), true},
		"another preflight":           {edited(func(in *Input) { in.PreflightHash = "dddddddddd" }), false},
		"another memory":              {edited(func(in *Input) { in.Rollout = `{"failed":"dddddddddd"}` }), false},
		"another database Secret":     {externalInput(func(i *v1alpha1.Instance) { i.Spec.Storage.External.SecretRef.Name = "other" }), true},
		"resources":                   {externalInput(func(i *v1alpha1.Instance) { i.Spec.Resources = memoryRequirements("1Gi") }), true},
		"another key of the Secret":   {externalInput(func(i *v1alpha1.Instance) { i.Spec.Storage.External.SecretRef.Key = "uri" }), true},
		"authorities of the database": {externalInput(withCARef(v1alpha1.CABundleReference{Name: "ca"})), true},
		"networks of the database":    {externalInput(withCIDRs("10.20.0.0/16")), false},
		"an insecure database":        {externalInput(func(i *v1alpha1.Instance) { i.Spec.Storage.External.AllowInsecure = true }), false},
		"nothing about pods":          {externalInput(withPods("{}")), false},
		"labels of pods":              {externalInput(withPods("labels: {team: a}")), true},
		"nodes":                       {externalInput(withPods("nodeSelector: {disk: ssd}")), true},
		"rollout": {externalInput(func(i *v1alpha1.Instance) {
			i.Spec.Rollout = &v1alpha1.RolloutSpec{Deadline: metav1.Duration{Duration: time.Minute}, Pause: true, Image: "pinned", Window: &v1alpha1.MaintenanceWindow{}}
		}), false},
		"scaling out":  {externalInput(withReplicas(9)), false},
		"scaling in":   {externalInput(withReplicas(1)), false},
		"hibernation":  {externalInput(withHibernate), false},
		"applications": {externalInput(withApplications(v1alpha1.Application{Name: "portal"})), false},
		"CORS":         {externalInput(func(i *v1alpha1.Instance) { i.Spec.CORS = &v1alpha1.CORS{AllowedOrigins: []string{"*"}} }), false},
		"a certificate of its own": {externalInput(func(i *v1alpha1.Instance) {
			i.Spec.TLS = &v1alpha1.TLS{SecretRef: v1alpha1.SecretReference{Name: "own"}}
		}), false},
		"deletion policy":           {externalInput(func(i *v1alpha1.Instance) { i.Spec.DeletionPolicy = v1alpha1.DeletionPolicyDelete }), false},
		"suspension":                {externalInput(func(i *v1alpha1.Instance) { i.Spec.Suspend = true }), false},
		"labels on the Instance":    {externalInput(func(i *v1alpha1.Instance) { i.Labels = map[string]string{"team": "a"} }), false},
		"the database's other port": {edited(func(in *Input) { in.DatabasePorts = []int32{6432} }), true}, // together with the checksum
		"what is put back":          {edited(func(in *Input) { in.RollbackPorts = []int32{6432} }), false},
		"the cluster's addresses": {edited(func(in *Input) {
			in.DNSResolvers, in.KubernetesAPINetworks = externalInputWithBlockedAPI().DNSResolvers, externalInputWithBlockedAPI().KubernetesAPINetworks
		}), false},
		"a newer operator": {edited(func(in *Input) { in.Server.Revision = Revision + 1 }), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := toMap(t, BuildDeployment(externalInput()).Spec.Template)
			after := toMap(t, BuildDeployment(test.in).Spec.Template)
			diff := cmp.Diff(before, after)
			if replaced := diff != ""; replaced != test.replaces {
				t.Errorf("pods replaced: %t, want %t\n%s", replaced, test.replaces, diff)
			}
		})
	}
}

func memoryRequirements(size string) *corev1.ResourceRequirements {
	return &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(size)}}
}

func TestServerResources(t *testing.T) {
	t.Parallel()
	defaultYAML := "requests: {cpu: 50m, memory: 64Mi}\nlimits: {memory: 256Mi}"
	for name, test := range map[string]struct {
		spec *corev1.ResourceRequirements
		want string
	}{
		"none: defaults":  {nil, defaultYAML},
		"empty: defaults": {&corev1.ResourceRequirements{}, defaultYAML},
		"requests alone are not cut by a default limit": {memoryRequirements("1Gi"), "requests: {memory: 1Gi}"},
		"limits alone": {
			&corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}},
			"limits: {cpu: '2'}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := embeddedInput(func(instance *v1alpha1.Instance) { instance.Spec.Resources = test.spec })
			assertYAML(t, BuildDeployment(in).Spec.Template.Spec.Containers[0].Resources, test.want)
		})
	}
}

// TestServerMemory checks that the Go runtime's memory limit is a fraction of the
// container's limit.
func TestServerMemory(t *testing.T) {
	t.Parallel()
	limits := func(list corev1.ResourceList) *corev1.ResourceRequirements {
		return &corev1.ResourceRequirements{Limits: list}
	}
	for name, test := range map[string]struct {
		spec *corev1.ResourceRequirements
		want string
	}{
		"the default":     {nil, "209715KiB"},
		"a limit":         {limits(corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}), "838860KiB"},
		"a decimal limit": {limits(corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("500M")}), "390625KiB"},
		"no limit":        {memoryRequirements("1Gi"), ""},
		"another limit":   {limits(corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := embeddedInput(func(instance *v1alpha1.Instance) { instance.Spec.Resources = test.spec })
			got := ""
			for _, variable := range BuildDeployment(in).Spec.Template.Spec.Containers[0].Env {
				if *variable.Name == "GOMEMLIMIT" {
					got = *variable.Value
				}
			}
			if got != test.want {
				t.Errorf("got GOMEMLIMIT %q, want %q", got, test.want)
			}
		})
	}
}

func TestServerArguments(t *testing.T) {
	t.Parallel()
	in := embeddedInput()
	in.Models = []v1alpha1.Model{{ID: "service-de", Version: "2026-11-21T00:00:00Z"}, {ID: "service-en", Version: "2026-10-01T00:00:00Z"}}
	got := BuildDeployment(in).Spec.Template.Spec.Containers[0].Args
	want := []string{
		"serve",
		"--instance-id=acme",
		"--instance-url=https://acme.tenants.svc",
		"--listen=:8443",
		"--admin-listen=:8081",
		"--tls-cert-file=/etc/anamnesis/tls/tls.crt",
		"--tls-key-file=/etc/anamnesis/tls/tls.key",
		"--credentials-dir=/etc/anamnesis/credentials",
		"--signing-keys-dir=/etc/anamnesis/signing-keys",
		"--config=/etc/anamnesis/config/config.yaml",
		"--drain=10s",
		"--data-dir=/var/lib/anamnesis",
		"--models=/models",
		"--model=service-de@2026-11-21T00:00:00Z",
		"--model=service-en@2026-10-01T00:00:00Z",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
}

// TestGracePeriodExceedsDrainPeriod checks that the kubelet does not kill a draining
// server.
func TestGracePeriodExceedsDrainPeriod(t *testing.T) {
	t.Parallel()
	if terminationGracePeriod < drainPeriod+drainPeriod {
		t.Errorf("grace period %s is too short for drain period %s", terminationGracePeriod, drainPeriod)
	}
}
