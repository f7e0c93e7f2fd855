// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"crypto/x509"
	"encoding/pem"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/rotation"
)

// A path is what befalls Instances, one phase after the other.
type path struct {
	name string
	// prepare brings a new platform to where the path begins; nil for an empty one.
	prepare func(*platform)
	phases  []phase
}

// A phase changes something and lasts until that has had its effect.
type phase struct {
	change  func(*platform)
	reached func(*platform) bool
}

// paths are those that an Instance may take. Each is about the Instance acme.
var paths = []path{
	{name: "embedded is created", phases: []phase{
		{creates(embeddedAcme), shows("Ready=True Ready")},
	}},
	{name: "external is created", phases: []phase{
		{creates(externalAcme), shows("Ready=True Ready")},
	}},
	{name: "an edit rolls out", prepare: makesReady(externalAcme), phases: []phase{
		{edits(serveOlder), shows("Ready=True Ready")},
	}},
	{name: "a rollout fails and is put back", prepare: makesReady(externalAcme), phases: []phase{
		{breaksOlder, both(shows("Stalled=True RolloutFailed", "Available=True Serving"), isPutBack)},
	}},
	{name: "scaled down and up", prepare: makesReady(externalAcme), phases: []phase{
		{edits(func(i *v1alpha1.Instance) { i.Spec.Replicas = 1 }), shows("Ready=True Ready")},
		{edits(func(i *v1alpha1.Instance) { i.Spec.Replicas = 3 }), shows("Ready=True Ready")},
	}},
	{name: "hibernates and wakes", prepare: makesReady(embeddedAcme), phases: []phase{
		{edits(func(i *v1alpha1.Instance) { i.Spec.Hibernate = true }), shows("Ready=True Hibernated")},
		{edits(func(i *v1alpha1.Instance) { i.Spec.Hibernate = false }), shows("Ready=True Ready")},
	}},
	{name: "is suspended with a change and resumes", prepare: makesReady(externalAcme), phases: []phase{
		{edits(func(i *v1alpha1.Instance) { i.Spec.Suspend = true; serveOlder(i) }), shows("Ready=True Suspended")},
		{edits(func(i *v1alpha1.Instance) { i.Spec.Suspend = false }), shows("Ready=True Ready")},
	}},
	{name: "applications come and go", prepare: makesReady(embeddedAcme), phases: []phase{
		{edits(haveApplications("default", "portal", "kiosk")), shows("Ready=True Ready")},
		{edits(haveApplications("default", "portal")), shows("Ready=True Ready")},
	}},
	{name: "a certificate is renewed", prepare: makesReady(embeddedAcme), phases: []phase{
		{letsPass(65 * 24 * time.Hour), both(shows("Ready=True Ready"), isRenewed)},
	}},
	{name: "the authority is renewed", prepare: makesReady(externalAcme), phases: []phase{
		{letsPass(6 * 365 * 24 * time.Hour), both(shows("Ready=True Ready"), isRenewed)},
	}},
	{name: "keys begin to turn", prepare: makesReady(embeddedAcme), phases: []phase{
		{ask("keys:1,signing-keys:1,keysets:1"), shows("Ready=True Ready", "KeysTurning=True Turning")},
	}},
	{name: "keys have turned", prepare: beginsToTurn, phases: []phase{
		{letsPass(3 * time.Minute), says("KeysTurning", "good until")},
	}},
	{name: "keys are revoked at once", prepare: makesReady(embeddedAcme), phases: []phase{
		{revokes, isMet("1")},
	}},
	{name: "the server image is upgraded", prepare: makesTwo, phases: []phase{
		{func(p *platform) { p.startOperator(nextServerImage) }, both(isMoved("acme"), isMoved("other"))},
	}},
	{name: "is deleted and keeps its data", prepare: makesReady(embeddedAcme), phases: []phase{
		{deletes, both(isGone, keepsData)},
	}},
	{name: "is deleted with its data", prepare: makesReady(deletableAcme), phases: []phase{
		{deletes, both(isGone, losesData)},
	}},
	{name: "takes up the data of an earlier one", prepare: leavesData, phases: []phase{
		{creates(adoptingAcme), shows("Ready=True Ready")},
	}},
}

func embeddedAcme(p *platform) *v1alpha1.Instance { return p.instance("acme") }

func externalAcme(p *platform) *v1alpha1.Instance { return p.external("acme") }

func deletableAcme(p *platform) *v1alpha1.Instance {
	instance := p.instance("acme")
	instance.Spec.DeletionPolicy = v1alpha1.DeletionPolicyDelete
	return instance
}

func adoptingAcme(p *platform) *v1alpha1.Instance {
	instance := p.instance("acme")
	claim := read(p, "acme-data", &corev1.PersistentVolumeClaim{})
	instance.Annotations = map[string]string{v1alpha1.AdoptAnnotation: claim.Labels[v1alpha1.InstanceUIDLabel]}
	return instance
}

func creates(build func(*platform) *v1alpha1.Instance) func(*platform) {
	return func(p *platform) { p.create(build(p)) }
}

func makesReady(build func(*platform) *v1alpha1.Instance) func(*platform) {
	return func(p *platform) {
		p.create(build(p))
		p.reaches("acme", "Ready=True Ready")
	}
}

func makesTwo(p *platform) {
	makesReady(embeddedAcme)(p)
	p.create(p.instance("other"))
	p.reaches("other", "Ready=True Ready")
}

func leavesData(p *platform) {
	makesReady(embeddedAcme)(p)
	deletes(p)
	p.Eventually(func() bool { return isGone(p) }).Should(gomega.BeTrue())
}

func beginsToTurn(p *platform) {
	makesReady(embeddedAcme)(p)
	ask("keys:1,keysets:1")(p)
	p.reaches("acme", "Ready=True Ready", "KeysTurning=True Turning")
}

func revokes(p *platform) {
	p.editInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Annotations = map[string]string{rotation.Annotation: "keys:1"}
		instance.Spec.KeyOverlap = &metav1.Duration{}
	})
}

// isMet says whether keys were turned as was asked for.
func isMet(request string) func(*platform) bool {
	return func(p *platform) bool {
		credentials := read(p, "acme-credentials", &corev1.Secret{})
		return credentials.Annotations[rotation.MetAnnotation] == request && p.known("default").Key == p.shown("default")
	}
}

func says(condition, text string) func(*platform) bool {
	return func(p *platform) bool { return strings.Contains(p.message("acme", condition), text) }
}

func edits(how func(*v1alpha1.Instance)) func(*platform) {
	return func(p *platform) { p.editInstance("acme", how) }
}

func haveApplications(names ...string) func(*v1alpha1.Instance) {
	return func(instance *v1alpha1.Instance) {
		instance.Spec.Applications = nil
		for _, name := range names {
			instance.Spec.Applications = append(instance.Spec.Applications, v1alpha1.Application{Name: name})
		}
	}
}

func breaksOlder(p *platform) {
	p.breakModel(olderVersion)
	p.editInstance("acme", serveOlder)
}

// letsPass lets time pass for the operator, and has it look at the Instance.
func letsPass(time time.Duration) func(*platform) {
	return func(p *platform) {
		p.ahead.Store(int64(time))
		p.editInstance("acme", func(instance *v1alpha1.Instance) {
			instance.Annotations = map[string]string{"test.example/visit": time.String()}
		})
	}
}

func deletes(p *platform) {
	if err := p.Delete(p.t.Context(), read(p, "acme", &v1alpha1.Instance{})); err != nil {
		p.t.Fatal(err)
	}
}

func both(one, other func(*platform) bool) func(*platform) bool {
	return func(p *platform) bool { return one(p) && other(p) }
}

// shows says whether the Instance's conditions include some.
func shows(conditions ...string) func(*platform) bool {
	return func(p *platform) bool {
		state := p.state("acme")
		return !slices.ContainsFunc(conditions, func(condition string) bool { return !slices.Contains(state, condition) })
	}
}

func isPutBack(p *platform) bool {
	return models(p, "acme") == "service-en@"+newestVersion && strings.Contains(p.message("acme", "Ready"), "put back")
}

// isRenewed says whether the certificate that is served was issued by now.
func isRenewed(p *platform) bool {
	certificate := parseCertificate(p.t, read(p, "acme-serving-tls", &corev1.Secret{}).Data[corev1.TLSCertKey])
	return certificate.NotAfter.After(time.Now().Add(time.Duration(p.ahead.Load()) + 60*24*time.Hour))
}

// parseCertificate reads the first certificate of a chain in PEM.
func parseCertificate(t testing.TB, chain []byte) *x509.Certificate {
	t.Helper()
	block, _ := pem.Decode(chain)
	if block == nil {
		t.Fatalf("no certificate in PEM: %q", chain)
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return certificate
}

func isMoved(name string) func(*platform) bool {
	return func(p *platform) bool {
		instance := &v1alpha1.Instance{}
		return p.get(name, instance) && instance.Status.Server.Image == nextServerImage && slices.Contains(p.state(name), "Ready=True Ready")
	}
}

// isGone says that of the Instance at most its data is left.
func isGone(p *platform) bool {
	for _, object := range p.everything() {
		if object.GetLabels()[v1alpha1.InstanceUIDLabel] == "" && strings.HasPrefix(object.GetName(), "acme") {
			return false
		}
	}
	return true
}

// dataLeft names what is left of the data of acme.
func dataLeft(p *platform) []string {
	var left []string
	for _, object := range p.everything() {
		if object.GetLabels()[v1alpha1.InstanceUIDLabel] != "" {
			left = append(left, object.GetName())
		}
	}
	return left
}

func keepsData(p *platform) bool {
	return slices.Equal(dataLeft(p), []string{"acme-data", "acme-credentials", "acme-keysets", "acme-signing-keys"})
}

func losesData(p *platform) bool { return len(dataLeft(p)) == 0 }
