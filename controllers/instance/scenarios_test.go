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

// A scenario is a sequence of changes to Instances.
type scenario struct {
	name string
	// prepare creates the initial objects of the scenario. It may be nil.
	prepare func(*harness)
	steps   []scenarioStep
}

// A scenarioStep applies a change and waits until the change has taken effect.
type scenarioStep struct {
	apply func(*harness)
	done  func(*harness) bool
}

// scenarios lists the scenarios to test. Each scenario changes the Instance acme.
var scenarios = []scenario{
	{name: "embedded is created", steps: []scenarioStep{
		{createInstance(embeddedAcme), hasConditions("Ready=True Ready")},
	}},
	{name: "external is created", steps: []scenarioStep{
		{createInstance(externalAcme), hasConditions("Ready=True Ready")},
	}},
	{name: "an edit rolls out", prepare: createReady(externalAcme), steps: []scenarioStep{
		{updateAcme(useOlderModel), hasConditions("Ready=True Ready")},
	}},
	{name: "a rollout fails and is put back", prepare: createReady(externalAcme), steps: []scenarioStep{
		{deployBrokenModel, allOf(hasConditions("Stalled=True RolloutFailed", "Available=True Serving"), isRolledBack)},
	}},
	{name: "scaled down and up", prepare: createReady(externalAcme), steps: []scenarioStep{
		{updateAcme(func(i *v1alpha1.Instance) { i.Spec.Replicas = 1 }), hasConditions("Ready=True Ready")},
		{updateAcme(func(i *v1alpha1.Instance) { i.Spec.Replicas = 3 }), hasConditions("Ready=True Ready")},
	}},
	{name: "hibernates and wakes", prepare: createReady(embeddedAcme), steps: []scenarioStep{
		{updateAcme(func(i *v1alpha1.Instance) { i.Spec.Hibernate = true }), hasConditions("Ready=True Hibernated")},
		{updateAcme(func(i *v1alpha1.Instance) { i.Spec.Hibernate = false }), hasConditions("Ready=True Ready")},
	}},
	{name: "is suspended with a change and resumes", prepare: createReady(externalAcme), steps: []scenarioStep{
		{updateAcme(func(i *v1alpha1.Instance) { i.Spec.Suspend = true; useOlderModel(i) }), hasConditions("Ready=True Suspended")},
		{updateAcme(func(i *v1alpha1.Instance) { i.Spec.Suspend = false }), hasConditions("Ready=True Ready")},
	}},
	{name: "applications come and go", prepare: createReady(embeddedAcme), steps: []scenarioStep{
		{updateAcme(withApplications("default", "portal", "kiosk")), hasConditions("Ready=True Ready")},
		{updateAcme(withApplications("default", "portal")), hasConditions("Ready=True Ready")},
	}},
	{name: "a certificate is renewed", prepare: createReady(embeddedAcme), steps: []scenarioStep{
		{advanceClock(65 * 24 * time.Hour), allOf(hasConditions("Ready=True Ready"), isRenewed)},
	}},
	{name: "the authority is renewed", prepare: createReady(externalAcme), steps: []scenarioStep{
		{advanceClock(6 * 365 * 24 * time.Hour), allOf(hasConditions("Ready=True Ready"), isRenewed)},
	}},
	{name: "keys begin to turn", prepare: createReady(embeddedAcme), steps: []scenarioStep{
		{requestRotation("keys:1,signing-keys:1,keysets:1"), hasConditions("Ready=True Ready", "KeysRotating=True Rotating")},
	}},
	{name: "keys have turned", prepare: startRotation, steps: []scenarioStep{
		{advanceClock(3 * time.Minute), hasMessage("KeysRotating", "valid until")},
	}},
	{name: "keys are revoked at once", prepare: createReady(embeddedAcme), steps: []scenarioStep{
		{revokeKeys, isRotated("1")},
	}},
	{name: "the server image is upgraded", prepare: createTwoReady, steps: []scenarioStep{
		{func(h *harness) { h.startOperator(nextServerImage) }, allOf(isUpgraded("acme"), isUpgraded("other"))},
	}},
	{name: "is deleted and keeps its data", prepare: createReady(embeddedAcme), steps: []scenarioStep{
		{deleteAcme, allOf(isDeleted, isDataRetained)},
	}},
	{name: "is deleted with its data", prepare: createReady(deletableAcme), steps: []scenarioStep{
		{deleteAcme, allOf(isDeleted, isDataDeleted)},
	}},
	{name: "takes up the data of an earlier one", prepare: createRetainedData, steps: []scenarioStep{
		{createInstance(adoptingAcme), hasConditions("Ready=True Ready")},
	}},
}

func embeddedAcme(h *harness) *v1alpha1.Instance { return h.newInstance("acme") }

func externalAcme(h *harness) *v1alpha1.Instance { return h.newExternalInstance("acme") }

func deletableAcme(h *harness) *v1alpha1.Instance {
	instance := h.newInstance("acme")
	instance.Spec.DeletionPolicy = v1alpha1.DeletionPolicyDelete
	return instance
}

func adoptingAcme(h *harness) *v1alpha1.Instance {
	instance := h.newInstance("acme")
	claim := mustGet(h, "acme-data", &corev1.PersistentVolumeClaim{})
	instance.Annotations = map[string]string{v1alpha1.AdoptAnnotation: claim.Labels[v1alpha1.InstanceUIDLabel]}
	return instance
}

func createInstance(build func(*harness) *v1alpha1.Instance) func(*harness) {
	return func(h *harness) { h.mustCreate(build(h)) }
}

func createReady(build func(*harness) *v1alpha1.Instance) func(*harness) {
	return func(h *harness) {
		h.mustCreate(build(h))
		h.waitForConditions("acme", "Ready=True Ready")
	}
}

func createTwoReady(h *harness) {
	createReady(embeddedAcme)(h)
	h.mustCreate(h.newInstance("other"))
	h.waitForConditions("other", "Ready=True Ready")
}

func createRetainedData(h *harness) {
	createReady(embeddedAcme)(h)
	deleteAcme(h)
	h.Eventually(func() bool { return isDeleted(h) }).Should(gomega.BeTrue())
}

func startRotation(h *harness) {
	createReady(embeddedAcme)(h)
	requestRotation("keys:1,keysets:1")(h)
	h.waitForConditions("acme", "Ready=True Ready", "KeysRotating=True Rotating")
}

func revokeKeys(h *harness) {
	h.updateInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Annotations = map[string]string{rotation.Annotation: "keys:1"}
		instance.Spec.KeyOverlap = &metav1.Duration{}
	})
}

// isRotated reports whether keys were rotated as requested.
func isRotated(request string) func(*harness) bool {
	return func(h *harness) bool {
		credentials := mustGet(h, "acme-credentials", &corev1.Secret{})
		return credentials.Annotations[rotation.RotatedAnnotation] == request && h.serverCredential("default").Key == h.publishedKey("default")
	}
}

func hasMessage(condition, text string) func(*harness) bool {
	return func(h *harness) bool { return strings.Contains(h.conditionMessage("acme", condition), text) }
}

func updateAcme(change func(*v1alpha1.Instance)) func(*harness) {
	return func(h *harness) { h.updateInstance("acme", change) }
}

func withApplications(names ...string) func(*v1alpha1.Instance) {
	return func(instance *v1alpha1.Instance) {
		instance.Spec.Applications = nil
		for _, name := range names {
			instance.Spec.Applications = append(instance.Spec.Applications, v1alpha1.Application{Name: name})
		}
	}
}

func deployBrokenModel(h *harness) {
	h.breakModel(olderVersion)
	h.updateInstance("acme", useOlderModel)
}

// advanceClock advances the operator's clock and triggers a reconcile of the Instance.
func advanceClock(duration time.Duration) func(*harness) {
	return func(h *harness) {
		h.clockOffset.Store(int64(duration))
		h.updateInstance("acme", func(instance *v1alpha1.Instance) {
			instance.Annotations = map[string]string{"test.example/visit": duration.String()}
		})
	}
}

func deleteAcme(h *harness) {
	if err := h.Delete(h.t.Context(), mustGet(h, "acme", &v1alpha1.Instance{})); err != nil {
		h.t.Fatal(err)
	}
}

func allOf(first, second func(*harness) bool) func(*harness) bool {
	return func(h *harness) bool { return first(h) && second(h) }
}

// hasConditions reports whether the Instance's conditions include the given ones.
func hasConditions(conditions ...string) func(*harness) bool {
	return func(h *harness) bool {
		state := h.conditionLines("acme")
		return !slices.ContainsFunc(conditions, func(condition string) bool { return !slices.Contains(state, condition) })
	}
}

// isRolledBack reports whether the pods of the previous template serve and no others are left.
func isRolledBack(h *harness) bool {
	acme := mustGet(h, "acme", &v1alpha1.Instance{})
	return acme.Status.Replicas == acme.Spec.Replicas && servedModels(h, "acme") == "service-en@"+newestVersion && strings.Contains(h.conditionMessage("acme", "Ready"), "rolled back")
}

// isRenewed reports whether the served certificate has been reissued.
func isRenewed(h *harness) bool {
	certificate := parseCertificate(h.t, mustGet(h, "acme-serving-tls", &corev1.Secret{}).Data[corev1.TLSCertKey])
	return certificate.NotAfter.After(time.Now().Add(time.Duration(h.clockOffset.Load()) + 60*24*time.Hour))
}

// parseCertificate parses the first certificate of a PEM chain.
func parseCertificate(t testing.TB, chain []byte) *x509.Certificate {
	t.Helper()
	block, _ := pem.Decode(chain)
	if block == nil {
		t.Fatalf("PEM data does not contain a certificate: %q", chain)
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return certificate
}

func isUpgraded(name string) func(*harness) bool {
	return func(h *harness) bool {
		instance := &v1alpha1.Instance{}
		return h.get(name, instance) && instance.Status.Server.Image == nextServerImage && slices.Contains(h.conditionLines(name), "Ready=True Ready")
	}
}

// isDeleted reports whether all objects of the Instance except retained data are deleted.
func isDeleted(h *harness) bool {
	for _, object := range h.managedObjects() {
		if object.GetLabels()[v1alpha1.InstanceUIDLabel] == "" && strings.HasPrefix(object.GetName(), "acme") {
			return false
		}
	}
	return true
}

// retainedObjects returns the names of acme's remaining data objects.
func retainedObjects(h *harness) []string {
	var names []string
	for _, object := range h.managedObjects() {
		if object.GetLabels()[v1alpha1.InstanceUIDLabel] != "" {
			names = append(names, object.GetName())
		}
	}
	return names
}

func isDataRetained(h *harness) bool {
	return slices.Equal(retainedObjects(h), []string{"acme-data", "acme-credentials", "acme-keysets", "acme-signing-keys"})
}

func isDataDeleted(h *harness) bool { return len(retainedObjects(h)) == 0 }
