// SPDX-License-Identifier: Apache-2.0

package ssa

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// parseObject parses an object from JSON or YAML.
func parseObject(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &object.Object); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return object
}

// toTyped returns an object as it comes from a cache.
func toTyped(t *testing.T, object *unstructured.Unstructured) client.Object {
	t.Helper()
	made, err := scheme.Scheme.New(object.GroupVersionKind())
	if err != nil {
		t.Fatal(err)
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, made); err != nil {
		t.Fatal(err)
	}
	return made.(client.Object)
}

// differingPaths returns the paths at which sent differs from live. They must be the
// same whether live comes from a cache or from the API server.
func differingPaths(t *testing.T, sent, live *unstructured.Unstructured) []string {
	t.Helper()
	found, err := compare(sent, live)
	if err != nil {
		t.Fatal(err)
	}
	if scheme.Scheme.Recognizes(sent.GroupVersionKind()) {
		cached, err := compare(sent, toTyped(t, live))
		if err != nil {
			t.Fatal(err)
		}
		if newFingerprint(found) != newFingerprint(cached) {
			t.Errorf("got differences %v for an object from the API server, %v for an object from a cache", found, cached)
		}
	}
	var texts []string
	for _, each := range found {
		texts = append(texts, each.String())
	}
	return texts
}

// A comparisonCase holds a sent object, a live object, and the paths of their
// differences.
type comparisonCase struct {
	desired, live string
	want          []string
}

// runComparisons compares objects of one kind.
func runComparisons(t *testing.T, version, kind string, cases map[string]comparisonCase) {
	t.Helper()
	t.Parallel()
	object := func(text string) *unstructured.Unstructured {
		parsed := parseObject(t, text)
		parsed.SetAPIVersion(version)
		parsed.SetKind(kind)
		return parsed
	}
	for name, test := range cases {
		if diff := cmp.Diff(test.want, differingPaths(t, object(test.desired), object(test.live))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// podTemplateSpec returns a workload with the given fields in the spec of its pod
// template.
func podTemplateSpec(fields string) string { return `spec: {template: {spec: {` + fields + `}}}` }

func TestCompareMetadata(t *testing.T) {
	runComparisons(t, "v1", "ServiceAccount", map[string]comparisonCase{
		"equal":               {`metadata: {name: a}`, `metadata: {name: a, uid: u}`, nil},
		"a foreign label":     {`metadata: {labels: {a: "1"}}`, `metadata: {labels: {a: "1", b: "2"}}`, nil},
		"a label changed":     {`metadata: {labels: {a: "1"}}`, `metadata: {labels: {a: "2"}}`, []string{"metadata.labels.a"}},
		"a label gone":        {`metadata: {labels: {a: "1"}}`, `metadata: {labels: {b: "1"}}`, []string{"metadata.labels.a"}},
		"all labels gone":     {`metadata: {labels: {a: "1"}}`, `metadata: {}`, []string{"metadata.labels.a"}},
		"an empty label gone": {`metadata: {labels: {a: ""}}`, `metadata: {labels: {b: "1"}}`, []string{"metadata.labels.a"}},
		"no labels":           {`metadata: {labels: {}}`, `metadata: {}`, nil},
		"two annotations":     {`metadata: {annotations: {x/b: "1", a: "1"}}`, `metadata: {annotations: {b: "1"}}`, []string{"metadata.annotations.a", "metadata.annotations.x/b"}},
		"another owner":       {`metadata: {ownerReferences: [{uid: a, name: owner}]}`, `metadata: {ownerReferences: [{uid: b, name: other}, {uid: a, name: owner}]}`, nil},
		"an owner gone":       {`metadata: {ownerReferences: [{uid: a}]}`, `metadata: {ownerReferences: [{uid: b}]}`, []string{`metadata.ownerReferences[uid="a"]`}},
		"an owner that controls no more": {`metadata: {ownerReferences: [{uid: a, controller: true}]}`, `metadata: {ownerReferences: [{uid: a, controller: false}]}`,
			[]string{`metadata.ownerReferences[uid="a"].controller`}},
		"a foreign finalizer":   {`metadata: {finalizers: [a]}`, `metadata: {finalizers: [b, a]}`, nil},
		"a finalizer gone":      {`metadata: {finalizers: [a]}`, `metadata: {finalizers: [b]}`, []string{`metadata.finalizers[="a"]`}},
		"an omitted zero":       {`automountServiceAccountToken: false`, `{}`, nil},
		"a zero that is none":   {`automountServiceAccountToken: false`, `automountServiceAccountToken: true`, []string{"automountServiceAccountToken"}},
		"a foreign pull secret": {`imagePullSecrets: [{name: a}]`, `imagePullSecrets: [{name: b}, {name: a}]`, []string{"imagePullSecrets"}},
	})
}

func TestCompareDeployment(t *testing.T) {
	const container = "spec.template.spec.containers[name=\"a\"]"
	runComparisons(t, "apps/v1", "Deployment", map[string]comparisonCase{
		"another value":    {`spec: {replicas: 2}`, `spec: {replicas: 3}`, []string{"spec.replicas"}},
		"a default":        {`spec: {replicas: 2}`, `spec: {replicas: 2, paused: true, strategy: {type: Recreate}}`, nil},
		"a zero":           {`spec: {minReadySeconds: 0, paused: false}`, `spec: {}`, nil},
		"a field gone":     {`spec: {replicas: 2}`, `spec: {}`, []string{"spec.replicas"}},
		"a selector":       {`spec: {selector: {matchLabels: {a: "1"}}}`, `spec: {selector: {matchLabels: {a: "1", b: "2"}}}`, []string{"spec.selector.matchLabels"}},
		"a strategy gone":  {`spec: {strategy: {rollingUpdate: {maxSurge: 25%}}}`, `spec: {strategy: {type: Recreate}}`, []string{"spec.strategy.rollingUpdate"}},
		"a sidecar":        {podTemplateSpec(`containers: [{name: a, image: x}]`), podTemplateSpec(`containers: [{name: b}, {name: a, image: x, tty: true}]`), nil},
		"another image":    {podTemplateSpec(`containers: [{name: a, image: x}]`), podTemplateSpec(`containers: [{name: a, image: z}]`), []string{container + ".image"}},
		"a container gone": {podTemplateSpec(`containers: [{name: a, image: x}]`), podTemplateSpec(`containers: [{name: b, image: x}]`), []string{container}},
		"arguments in another order": {podTemplateSpec(`containers: [{name: a, args: [s, --x]}]`), podTemplateSpec(`containers: [{name: a, args: [--x, s]}]`),
			[]string{container + ".args[0]", container + ".args[1]"}},
		"an argument more":    {podTemplateSpec(`containers: [{name: a, args: [s]}]`), podTemplateSpec(`containers: [{name: a, args: [s, --x]}]`), []string{container + ".args"}},
		"no arguments":        {podTemplateSpec(`containers: [{name: a, args: []}]`), podTemplateSpec(`containers: [{name: a}]`), nil},
		"arguments, not none": {podTemplateSpec(`containers: [{name: a, args: []}]`), podTemplateSpec(`containers: [{name: a, args: [x]}]`), []string{container + ".args"}},
		"a foreign variable": {podTemplateSpec(`containers: [{name: a, env: [{name: E, value: "1"}]}]`),
			podTemplateSpec(`containers: [{name: a, env: [{name: F, value: "2"}, {name: E, value: "1"}]}]`), nil},
		"a variable repeated": {podTemplateSpec(`containers: [{name: a, env: [{name: E, value: "1"}]}]`),
			podTemplateSpec(`containers: [{name: a, env: [{name: E, value: "1"}, {name: E, value: "2"}]}]`), []string{container + `.env[name="E"]`}},
		"an empty variable": {podTemplateSpec(`containers: [{name: a, env: [{name: E, value: ""}]}]`), podTemplateSpec(`containers: [{name: a, env: [{name: E}]}]`), nil},
		"a port by its default protocol": {podTemplateSpec(`containers: [{name: a, ports: [{containerPort: 53}]}]`),
			podTemplateSpec(`containers: [{name: a, ports: [{containerPort: 53, protocol: UDP}, {containerPort: 53, protocol: TCP}]}]`), nil},
		"a port of another protocol": {podTemplateSpec(`containers: [{name: a, ports: [{containerPort: 53}]}]`),
			podTemplateSpec(`containers: [{name: a, ports: [{containerPort: 53, protocol: UDP}]}]`), []string{container + `.ports[containerPort=53,protocol="TCP"]`}},
		"a mount moved": {podTemplateSpec(`containers: [{name: a, volumeMounts: [{mountPath: /a, name: v}]}]`),
			podTemplateSpec(`containers: [{name: a, volumeMounts: [{mountPath: /b, name: v}]}]`), []string{container + `.volumeMounts[mountPath="/a"]`}},
		"an init container": {podTemplateSpec(`initContainers: [{name: a, image: x}]`), podTemplateSpec(`initContainers: [{name: b}, {name: a, image: z}]`),
			[]string{`spec.template.spec.initContainers[name="a"].image`}},
		"a foreign volume": {podTemplateSpec(`volumes: [{name: a, emptyDir: {}}]`), podTemplateSpec(`volumes: [{name: b}, {name: a, emptyDir: {}}]`), nil},
		"a volume of another source": {podTemplateSpec(`volumes: [{name: a, emptyDir: {}}]`), podTemplateSpec(`volumes: [{name: a, hostPath: {path: /}}]`),
			[]string{`spec.template.spec.volumes[name="a"].emptyDir`}},
		"a spread of two keys": {podTemplateSpec(`topologySpreadConstraints: [{topologyKey: z, whenUnsatisfiable: ScheduleAnyway, maxSkew: 1}]`),
			podTemplateSpec(`topologySpreadConstraints: [{topologyKey: z, whenUnsatisfiable: DoNotSchedule, maxSkew: 2}, {topologyKey: z, whenUnsatisfiable: ScheduleAnyway, maxSkew: 1}]`), nil},
		"a foreign pull secret":     {podTemplateSpec(`imagePullSecrets: [{name: a}]`), podTemplateSpec(`imagePullSecrets: [{name: b}, {name: a}]`), nil},
		"a foreign node label":      {podTemplateSpec(`nodeSelector: {a: "1"}`), podTemplateSpec(`nodeSelector: {a: "1", b: "2"}`), []string{"spec.template.spec.nodeSelector"}},
		"a foreign toleration":      {podTemplateSpec(`tolerations: [{key: a}]`), podTemplateSpec(`tolerations: [{key: a}, {key: b}]`), []string{"spec.template.spec.tolerations"}},
		"a default of a toleration": {podTemplateSpec(`tolerations: [{key: a}]`), podTemplateSpec(`tolerations: [{key: a, operator: Equal}]`), nil},
		"a quantity, another word": {podTemplateSpec(`containers: [{name: a, resources: {limits: {cpu: 1000m, memory: 1Gi}}}]`),
			podTemplateSpec(`containers: [{name: a, resources: {limits: {cpu: "1", memory: 1024Mi}}}]`), nil},
		"another quantity": {podTemplateSpec(`containers: [{name: a, resources: {limits: {memory: 1Gi}}}]`), podTemplateSpec(`containers: [{name: a, resources: {limits: {memory: 1G}}}]`),
			[]string{container + ".resources.limits.memory"}},
		"a foreign limit":         {podTemplateSpec(`containers: [{name: a, resources: {limits: {memory: 1Gi}}}]`), podTemplateSpec(`containers: [{name: a, resources: {limits: {memory: 1Gi, cpu: 1}}}]`), nil},
		"a limit gone":            {podTemplateSpec(`containers: [{name: a, resources: {limits: {memory: 1Gi}}}]`), podTemplateSpec(`containers: [{name: a}]`), []string{container + ".resources.limits.memory"}},
		"a quantity of a volume":  {podTemplateSpec(`volumes: [{name: a, emptyDir: {sizeLimit: 1024Mi}}]`), podTemplateSpec(`volumes: [{name: a, emptyDir: {sizeLimit: 1Gi}}]`), nil},
		"a number or a string":    {podTemplateSpec(`containers: [{name: a, livenessProbe: {httpGet: {port: 80}}}]`), podTemplateSpec(`containers: [{name: a, livenessProbe: {httpGet: {port: "80"}}}]`), []string{container + ".livenessProbe.httpGet.port"}},
		"a field of a newer API":  {`spec: {new: {a: [1]}}`, `spec: {}`, []string{"spec.new"}},
		"an argument like a size": {podTemplateSpec(`containers: [{name: a, args: [1000m]}]`), podTemplateSpec(`containers: [{name: a, args: ["1"]}]`), []string{container + ".args[0]"}},
	})
}

func TestCompareJob(t *testing.T) {
	runComparisons(t, "batch/v1", "Job", map[string]comparisonCase{
		"what the controller adds": {
			`{metadata: {name: a}, spec: {backoffLimit: 0, template: {metadata: {labels: {a: "1"}}, spec: {containers: [{name: a, image: x}]}}}}`,
			`{metadata: {name: a}, spec: {backoffLimit: 0, selector: {matchLabels: {uid: u}}, template: {metadata: {labels: {a: "1", uid: u}}, spec: {containers: [{name: a, image: x}]}}}}`, nil},
		"another image": {podTemplateSpec(`containers: [{name: a, image: x}]`), podTemplateSpec(`containers: [{name: b}, {name: a, image: z}]`),
			[]string{`spec.template.spec.containers[name="a"].image`}},
		"a mount": {podTemplateSpec(`containers: [{name: a, volumeMounts: [{mountPath: /m, name: v}]}]`),
			podTemplateSpec(`containers: [{name: a, volumeMounts: [{mountPath: /n, name: w}, {mountPath: /m, name: v, readOnly: true}]}]`), nil},
		"a rule of failures": {`spec: {podFailurePolicy: {rules: [{action: Ignore}]}}`, `spec: {podFailurePolicy: {rules: [{action: Ignore}, {action: FailJob}]}}`,
			[]string{"spec.podFailurePolicy.rules"}},
	})
}

func TestCompareService(t *testing.T) {
	runComparisons(t, "v1", "Service", map[string]comparisonCase{
		"a port by its default protocol": {`spec: {ports: [{port: 443}]}`, `spec: {ports: [{port: 443, protocol: TCP, targetPort: 443}]}`, nil},
		"a foreign port":                 {`spec: {ports: [{port: 443}]}`, `spec: {ports: [{port: 80, protocol: TCP}, {port: 443, protocol: TCP}]}`, nil},
		"the other protocol": {`spec: {ports: [{port: 53, protocol: UDP, name: u}]}`,
			`spec: {ports: [{port: 53, protocol: TCP, name: t}, {port: 53, protocol: UDP, name: u}]}`, nil},
		"a port changed": {`spec: {ports: [{port: 443, name: https}]}`, `spec: {ports: [{port: 444, name: https, protocol: TCP}]}`,
			[]string{`spec.ports[port=443,protocol="TCP"]`}},
		"a target changed": {`spec: {ports: [{port: 443, targetPort: https}]}`, `spec: {ports: [{port: 443, targetPort: 1, protocol: TCP}]}`,
			[]string{`spec.ports[port=443,protocol="TCP"].targetPort`}},
		"a foreign selector": {`spec: {selector: {a: "1"}}`, `spec: {selector: {a: "1", b: "2"}}`, []string{"spec.selector"}},
		"a selector changed": {`spec: {selector: {a: "1"}}`, `spec: {selector: {a: "2"}}`, []string{"spec.selector.a"}},
		"addresses given":    {`spec: {type: ClusterIP}`, `spec: {type: ClusterIP, clusterIP: 10.0.0.1, clusterIPs: [10.0.0.1]}`, nil},
	})
}

func TestCompareNetworkPolicy(t *testing.T) {
	runComparisons(t, "networking.k8s.io/v1", "NetworkPolicy", map[string]comparisonCase{
		"a default":      {`spec: {ingress: [{ports: [{port: 443}]}]}`, `spec: {ingress: [{ports: [{port: 443, protocol: TCP}]}]}`, nil},
		"a foreign port": {`spec: {ingress: [{ports: [{port: 443}]}]}`, `spec: {ingress: [{ports: [{port: 443}, {port: 22}]}]}`, []string{"spec.ingress[0].ports"}},
		"a foreign rule": {`spec: {ingress: [{ports: [{port: 443}]}]}`, `spec: {ingress: [{ports: [{port: 443}]}, {}]}`, []string{"spec.ingress"}},
		"a peer widened": {`spec: {egress: [{to: [{podSelector: {matchLabels: {a: "1"}}}]}]}`, `spec: {egress: [{to: [{podSelector: {}}]}]}`,
			[]string{"spec.egress[0].to[0].podSelector.matchLabels"}},
		"a peer narrowed": {`spec: {egress: [{to: [{podSelector: {matchLabels: {a: "1"}}}]}]}`, `spec: {egress: [{to: [{podSelector: {matchLabels: {a: "1", b: "2"}}}]}]}`,
			[]string{"spec.egress[0].to[0].podSelector.matchLabels"}},
		"all namespaces, not one": {`spec: {ingress: [{from: [{namespaceSelector: {}}]}]}`, `spec: {ingress: [{from: [{podSelector: {}}]}]}`,
			[]string{"spec.ingress[0].from[0].namespaceSelector"}},
		"no ingress allowed":     {`spec: {ingress: [], policyTypes: [Ingress]}`, `spec: {policyTypes: [Ingress]}`, nil},
		"types in another order": {`spec: {policyTypes: [Ingress, Egress]}`, `spec: {policyTypes: [Egress, Ingress]}`, []string{"spec.policyTypes[0]", "spec.policyTypes[1]"}},
		"a foreign exception":    {`spec: {egress: [{to: [{ipBlock: {cidr: 0.0.0.0/0}}]}]}`, `spec: {egress: [{to: [{ipBlock: {cidr: 0.0.0.0/0, except: [10.0.0.0/8]}}]}]}`, nil},
		"an exception taken away": {`spec: {egress: [{to: [{ipBlock: {cidr: 0.0.0.0/0, except: [10.0.0.0/8]}}]}]}`, `spec: {egress: [{to: [{ipBlock: {cidr: 0.0.0.0/0}}]}]}`,
			[]string{"spec.egress[0].to[0].ipBlock.except"}},
	})
}

func TestCompareSecretAndConfigMap(t *testing.T) {
	for _, kind := range []string{"Secret", "ConfigMap"} {
		t.Run(kind, func(t *testing.T) {
			runComparisons(t, "v1", kind, map[string]comparisonCase{
				"equal":             {`data: {a: YQ==}`, `data: {a: YQ==, b: Yg==}`, nil},
				"changed":           {`data: {a: YQ==, b: Yg==}`, `data: {a: Yg==, b: YQ==}`, []string{"data.a", "data.b"}},
				"gone":              {`data: {a: YQ==}`, `data: {b: Yg==}`, []string{"data.a"}},
				"an empty one gone": {`data: {a: ""}`, `data: {b: Yg==}`, []string{"data.a"}},
				"an empty one":      {`data: {a: ""}`, `data: {a: ""}`, nil},
				"no quantity":       {`metadata: {annotations: {limits: "1000m"}}`, `metadata: {annotations: {limits: "1"}}`, []string{"metadata.annotations.limits"}},
				"may not change":    {`immutable: true`, `immutable: true`, nil},
				"a key with dots":   {`data: {tls.crt: YQ==}`, `data: {tls.crt: Yg==}`, []string{"data.tls.crt"}},
			})
		})
	}
}

func TestComparePersistentVolumeClaim(t *testing.T) {
	runComparisons(t, "v1", "PersistentVolumeClaim", map[string]comparisonCase{
		"bound": {`spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1024Mi}}}`,
			`spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, volumeName: v, storageClassName: s}`, nil},
		"another class": {`spec: {storageClassName: fast}`, `spec: {storageClassName: slow}`, []string{"spec.storageClassName"}},
		"grown":         {`spec: {resources: {requests: {storage: 1Gi}}}`, `spec: {resources: {requests: {storage: 2Gi}}}`, []string{"spec.resources.requests.storage"}},
		"modes":         {`spec: {accessModes: [ReadWriteOnce]}`, `spec: {accessModes: [ReadWriteOnce, ReadOnlyMany]}`, []string{"spec.accessModes"}},
	})
}

func TestComparePodDisruptionBudget(t *testing.T) {
	runComparisons(t, "policy/v1", "PodDisruptionBudget", map[string]comparisonCase{
		"equal":              {`spec: {maxUnavailable: 1, selector: {matchLabels: {a: "1"}}}`, `spec: {maxUnavailable: 1, selector: {matchLabels: {a: "1"}}, unhealthyPodEvictionPolicy: IfHealthyBudget}`, nil},
		"a share":            {`spec: {maxUnavailable: 1}`, `spec: {maxUnavailable: 50%}`, []string{"spec.maxUnavailable"}},
		"a foreign selector": {`spec: {selector: {matchLabels: {a: "1"}}}`, `spec: {selector: {matchLabels: {a: "1", b: "2"}}}`, []string{"spec.selector.matchLabels"}},
	})
}

// TestCompareCustomResource covers kinds whose schema is not built in.
func TestCompareCustomResource(t *testing.T) {
	runComparisons(t, "gateway.networking.k8s.io/v1", "HTTPRoute", map[string]comparisonCase{
		"a default":            {`spec: {hostnames: [a], rules: [{backendRefs: [{name: a}]}]}`, `spec: {hostnames: [a], rules: [{backendRefs: [{name: a, weight: 1}]}]}`, nil},
		"a foreign rule":       {`spec: {rules: [{name: a}]}`, `spec: {rules: [{name: a}, {name: b}]}`, []string{"spec.rules"}},
		"a branch gone":        {`spec: {rules: [{name: a}]}`, `{}`, []string{"spec"}},
		"a branch is a value":  {`spec: {rules: {a: 1}}`, `spec: {rules: text}`, []string{"spec.rules"}},
		"a list is a value":    {`spec: {rules: [1]}`, `spec: {rules: text}`, []string{"spec.rules"}},
		"an omitted zero":      {`spec: {a: false, b: "", c: 0, d: null}`, `spec: {}`, nil},
		"metadata is known":    {`metadata: {finalizers: [a], ownerReferences: [{uid: a}]}`, `metadata: {finalizers: [b, a], ownerReferences: [{uid: b}, {uid: a}]}`, nil},
		"another type":         {`spec: {a: 2}`, `spec: {a: "2"}`, []string{"spec.a"}},
		"a number written out": {`spec: {limits: {cpu: 1000m}}`, `spec: {limits: {cpu: "1"}}`, []string{"spec.limits.cpu"}},
	})
}

func TestCompareReturnsErrors(t *testing.T) {
	t.Parallel()
	sent := parseObject(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: acme}, data: {a: "1"}}`)
	live := parseObject(t, `{apiVersion: v1, kind: ConfigMap, data: text}`)
	if _, err := compare(sent, live); err == nil || !strings.Contains(err.Error(), "reading the fields of ConfigMap acme") {
		t.Errorf("got error %v", err)
	}
}
