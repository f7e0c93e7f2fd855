// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/client/guidance"
)

const (
	receiverName = "receiver"
	// receiverPort is the port of both the pod and the Service, because policies apply to
	// pod ports.
	receiverPort = 8443
)

// A receiver is a receiver of events in a namespace.
type receiver struct {
	t         *testing.T
	namespace string
}

// startReceiver starts an HTTPS receiver and creates the ConfigMap with its CA bundle.
func startReceiver(t *testing.T, namespace string) receiver {
	t.Helper()
	image, err := cluster.BuildAndLoadImage(t.Context(), receiverName, "./hack/receiver")
	if err != nil {
		t.Fatal(err)
	}
	r := receiver{t, namespace}
	pod := newTestPod(namespace, receiverName, image, map[string]string{"app": receiverName}, "--listen=:8443", "--name="+r.host())
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: receiverName},
		Spec: corev1.ServiceSpec{
			Selector: pod.Labels,
			Ports:    []corev1.ServicePort{{Port: receiverPort, TargetPort: intstr.FromInt32(receiverPort)}},
		},
	}
	create := func(object client.Object) {
		if err := kubeClient.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	create(pod)
	create(service)
	NewWithT(t).Eventually(r.outputLines, defaultTimeout, "500ms").ShouldNot(BeEmpty(), "the receiver said nothing")
	create(&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: receiverName},
		Data:       map[string]string{"ca.crt": r.outputLines()[0].Authority},
	})
	return r
}

func (r receiver) host() string { return receiverName + "." + r.namespace + ".svc" }

// receiverOutput is a line that the receiver prints.
type receiverOutput struct {
	Authority string
	WebhookID string `json:"webhook_id"`
	Token     string
	Body      struct {
		EventType string `json:"event_type"`
		Content   struct {
			SurveyID string `json:"survey_id"`
		}
	}
}

// outputLines returns the receiver's output so far.
func (r receiver) outputLines() (lines []receiverOutput) {
	logs, err := cluster.Kubectl(r.t.Context(), "logs", "--namespace", r.namespace, receiverName)
	if err != nil {
		return nil // not started yet
	}
	for line := range strings.Lines(logs) {
		if !strings.HasPrefix(line, "{") {
			continue // who did not come through to it
		}
		var said receiverOutput
		if err := json.Unmarshal([]byte(line), &said); err != nil {
			r.t.Errorf("invalid output %q of the receiver: %v", line, err)
		}
		lines = append(lines, said)
	}
	return lines
}

// tokensForSurvey returns the tokens of the deliveries that reported the completion of
// a survey.
func (r receiver) tokensForSurvey(survey uuid.UUID) (tokens []string) {
	for _, said := range r.outputLines() {
		if said.Body.EventType == "survey_finished" && said.Body.Content.SurveyID == survey.String() {
			tokens = append(tokens, said.Token)
		}
	}
	return tokens
}

// createWebhookConfig applies a WebhookConfig with its token.
func (r receiver) createWebhookConfig(n tenant) *v1alpha1.WebhookConfig {
	r.t.Helper()
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: "portal-token"},
		StringData: map[string]string{"token": "the-token"},
	}
	config := &v1alpha1.WebhookConfig{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: "portal"},
		Spec: v1alpha1.WebhookConfigSpec{
			InstanceRef:                 v1alpha1.InstanceReference{Name: n.key.Name},
			URL:                         v1alpha1.ReceiverURL("https://" + r.host() + ":8443/events"),
			AuthorizationTokenSecretRef: v1alpha1.TokenSecretReference{Name: secret.Name},
		},
	}
	for _, object := range []client.Object{secret, config} {
		if err := kubeClient.Create(r.t.Context(), object); err != nil {
			r.t.Fatal(err)
		}
	}
	NewWithT(r.t).Eventually(func() (bool, error) {
		err := kubeClient.Get(r.t.Context(), client.ObjectKeyFromObject(config), config)
		return apimeta.IsStatusConditionTrue(config.Status.Conditions, v1alpha1.ConditionReady), err
	}, defaultTimeout, "500ms").Should(BeTrue(), "the WebhookConfig is ready")
	return config
}

// completeSurvey answers a survey of one question.
func (tn tenant) completeSurvey(api apiClient, patient uuid.UUID) uuid.UUID {
	tn.t.Helper()
	made, err := api.Guidance.CreateSurvey(tn.t.Context(), nil, guidance.NewSurvey{
		Type: new("intake"), PatientID: new(patient.String()), Sections: []string{"notes"},
	})
	if err != nil {
		tn.t.Fatal(err)
	}
	next, err := api.Guidance.AnswerCurrentQuestion(tn.t.Context(), made.ID, nil, guidance.NewAnswer{Answer: json.RawMessage(`"none"`)})
	if err != nil || next != nil {
		tn.t.Fatalf("got question %+v after the last answer, error %v", next, err)
	}
	return made.ID
}

// TestWebhookDelivery verifies that a receiver in a pod is notified of completed
// surveys until the WebhookConfig is deleted, and that an Instance's pods can reach
// the receiver only if the Instance allows it.
func TestWebhookDelivery(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t, "webhook")
	r := startReceiver(t, namespace)
	spec := embeddedSpec()
	spec.Webhooks = &v1alpha1.Webhooks{
		AllowPrivateAddresses: true, AllowedPorts: []int32{receiverPort}, CARef: &v1alpha1.CABundleReference{Kind: "ConfigMap", Name: receiverName},
	}
	n := createReadyInstance(t, namespace, "teller", spec)
	closed := createReadyInstance(t, namespace, "silent", embeddedSpec())
	config := r.createWebhookConfig(n)
	if secret := n.secret("portal-signing", "secret"); !strings.HasPrefix(secret, "whsec_") {
		t.Error("Secret of the receiver contains no signing secret")
	}

	api := n.newAPIClient("http/1.1")
	user := uuid.MustParse(api.mustCreateUser(t))
	patient, err := api.Guidance.CreatePatient(t.Context(), guidance.NewPatient{UserID: new(user.String())})
	if err != nil {
		t.Fatal(err)
	}
	survey := n.completeSurvey(api, patient.ID)
	NewWithT(t).Eventually(func() []string { return r.tokensForSurvey(survey) }, defaultTimeout, "500ms").Should(Equal([]string{"the-token"}))
	NewWithT(t).Eventually(func() (int32, error) {
		err := kubeClient.Get(t.Context(), client.ObjectKeyFromObject(config), config)
		if config.Status.LastDelivery == nil {
			return 0, err
		}
		return config.Status.LastDelivery.StatusCode, err
	}, defaultTimeout, "1s").Should(Equal(int32(204)), "the status shows the last delivery")

	if err := kubeClient.Delete(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	NewWithT(t).Eventually(func() error {
		return client.IgnoreNotFound(kubeClient.Get(t.Context(), client.ObjectKeyFromObject(config), config))
	}, defaultTimeout, "500ms").Should(Succeed())
	NewWithT(t).Eventually(func() (int, error) {
		left, err := api.Guidance.ListWebhooks(t.Context())
		return len(left), err
	}, defaultTimeout, "500ms").Should(BeZero(), "subscriptions that are left")
	unheard := n.completeSurvey(api, patient.ID)
	time.Sleep(5 * time.Second)
	if told := r.tokensForSurvey(unheard); len(told) > 0 {
		t.Error("receiver got an event after its WebhookConfig was deleted")
	}
	r.mustReach(n, "open")
	r.mustReach(closed, "closed")
}

// mustReach connects to the receiver from a pod with the labels that policies use to
// select an Instance's pods.
func (r receiver) mustReach(n tenant, want string) {
	r.t.Helper()
	image, err := cluster.BuildAndLoadImage(r.t.Context(), "probe", "./test/e2e/probe")
	if err != nil {
		r.t.Fatal(err)
	}
	pod := &corev1.Pod{}
	if err := kubeClient.Get(r.t.Context(), client.ObjectKey{Namespace: r.namespace, Name: receiverName}, pod); err != nil {
		r.t.Fatal(err)
	}
	address := pod.Status.PodIP + ":8443"
	labels := n.pods()[0].Labels
	delete(labels, "pod-template-hash") // not part of the Deployment
	got := runProbe(r.t, r.namespace, "probe-"+n.key.Name, image, labels, address)
	if diff := cmp.Diff(map[string]string{address: want}, got); diff != "" {
		r.t.Errorf("connectivity of pods of %s (-want +got):\n%s", n.key, diff)
	}
}
