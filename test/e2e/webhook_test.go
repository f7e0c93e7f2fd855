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
	// receiverPort is both of its pod and its Service, since policies speak of pods.
	receiverPort = 8443
)

// A receiver is somebody in a namespace who is told of events.
type receiver struct {
	t         *testing.T
	namespace string
}

// startReceiver starts one that answers by HTTPS, and makes the ConfigMap that says whom
// to believe of it.
func startReceiver(t *testing.T, namespace string) receiver {
	t.Helper()
	image, err := cluster.LoadCommand(t.Context(), receiverName, "./hack/receiver")
	if err != nil {
		t.Fatal(err)
	}
	r := receiver{t, namespace}
	pod := onePod(namespace, receiverName, image, map[string]string{"app": receiverName}, "--listen=:8443", "--name="+r.host())
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: receiverName},
		Spec: corev1.ServiceSpec{
			Selector: pod.Labels,
			Ports:    []corev1.ServicePort{{Port: receiverPort, TargetPort: intstr.FromInt32(receiverPort)}},
		},
	}
	create := func(object client.Object) {
		if err := kube.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	create(pod)
	create(service)
	NewWithT(t).Eventually(r.said, patience, "500ms").ShouldNot(BeEmpty(), "the receiver said nothing")
	create(&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: receiverName},
		Data:       map[string]string{"ca.crt": r.said()[0].Authority},
	})
	return r
}

func (r receiver) host() string { return receiverName + "." + r.namespace + ".svc" }

// taken is a line that the receiver prints.
type taken struct {
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

// said is what the receiver has printed so far.
func (r receiver) said() (lines []taken) {
	logs, err := cluster.Kubectl(r.t.Context(), "logs", "--namespace", r.namespace, receiverName)
	if err != nil {
		return nil // it has not begun yet
	}
	for line := range strings.Lines(logs) {
		if !strings.HasPrefix(line, "{") {
			continue // who did not come through to it
		}
		var said taken
		if err := json.Unmarshal([]byte(line), &said); err != nil {
			r.t.Errorf("the receiver said %q: %v", line, err)
		}
		lines = append(lines, said)
	}
	return lines
}

// toldOf says by which tokens the receiver was told of the end of a survey.
func (r receiver) toldOf(survey uuid.UUID) (tokens []string) {
	for _, said := range r.said() {
		if said.Body.EventType == "survey_finished" && said.Body.Content.SurveyID == survey.String() {
			tokens = append(tokens, said.Token)
		}
	}
	return tokens
}

// subscribe applies a WebhookConfig with its token.
func (r receiver) subscribe(n tenant) *v1alpha1.WebhookConfig {
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
			AuthorizationTokenSecretRef: v1alpha1.TokenReference{Name: secret.Name},
		},
	}
	for _, object := range []client.Object{secret, config} {
		if err := kube.Create(r.t.Context(), object); err != nil {
			r.t.Fatal(err)
		}
	}
	NewWithT(r.t).Eventually(func() (bool, error) {
		err := kube.Get(r.t.Context(), client.ObjectKeyFromObject(config), config)
		return apimeta.IsStatusConditionTrue(config.Status.Conditions, v1alpha1.ConditionReady), err
	}, patience, "500ms").Should(BeTrue(), "the WebhookConfig is ready")
	return config
}

// finish answers a survey of one question.
func (n tenant) finish(api apiClient, patient uuid.UUID) uuid.UUID {
	n.t.Helper()
	made, err := api.Guidance.CreateSurvey(n.t.Context(), nil, guidance.NewSurvey{
		Type: new("intake"), PatientID: new(patient.String()), Sections: []string{"notes"},
	})
	if err != nil {
		n.t.Fatal(err)
	}
	next, err := api.Guidance.AnswerCurrentQuestion(n.t.Context(), made.ID, nil, guidance.NewAnswer{Answer: json.RawMessage(`"none"`)})
	if err != nil || next != nil {
		n.t.Fatalf("after its question the survey asks %+v, %v", next, err)
	}
	return made.ID
}

// TestReceiversAreTold has the end of a survey told to a receiver in a pod, until the
// WebhookConfig is deleted, and sees that pods of an Instance reach the receiver only
// where their Instance says so.
func TestReceiversAreTold(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t, "webhook")
	r := startReceiver(t, namespace)
	spec := embedded()
	spec.Webhooks = &v1alpha1.Webhooks{
		AllowPrivateAddresses: true, AllowedPorts: []int32{receiverPort}, CARef: &v1alpha1.CertificateReference{Kind: "ConfigMap", Name: receiverName},
	}
	n := apply(t, namespace, "teller", spec)
	closed := apply(t, namespace, "silent", embedded())
	config := r.subscribe(n)
	if secret := n.secret("portal-signing", "secret"); !strings.HasPrefix(secret, "whsec_") {
		t.Error("the Secret for the receiver holds no signing secret")
	}

	api := n.dial("http/1.1")
	user := uuid.MustParse(api.mustCreateUser(t))
	patient, err := api.Guidance.CreatePatient(t.Context(), guidance.NewPatient{UserID: new(user.String())})
	if err != nil {
		t.Fatal(err)
	}
	survey := n.finish(api, patient.ID)
	NewWithT(t).Eventually(func() []string { return r.toldOf(survey) }, patience, "500ms").Should(Equal([]string{"the-token"}))
	NewWithT(t).Eventually(func() (int32, error) {
		err := kube.Get(t.Context(), client.ObjectKeyFromObject(config), config)
		if config.Status.LastDelivery == nil {
			return 0, err
		}
		return config.Status.LastDelivery.StatusCode, err
	}, patience, "1s").Should(Equal(int32(204)), "the status shows the last delivery")

	if err := kube.Delete(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	NewWithT(t).Eventually(func() error {
		return client.IgnoreNotFound(kube.Get(t.Context(), client.ObjectKeyFromObject(config), config))
	}, patience, "500ms").Should(Succeed())
	NewWithT(t).Eventually(func() (int, error) {
		left, err := api.Guidance.ListWebhooks(t.Context())
		return len(left), err
	}, patience, "500ms").Should(BeZero(), "subscriptions that are left")
	unheard := n.finish(api, patient.ID)
	time.Sleep(5 * time.Second)
	if told := r.toldOf(unheard); len(told) > 0 {
		t.Error("the receiver was told after its WebhookConfig was deleted")
	}
	r.wantReach(n, "open")
	r.wantReach(closed, "closed")
}

// wantReach has a pod with the labels that policies know an Instance's pods by try the
// receiver.
func (r receiver) wantReach(n tenant, want string) {
	r.t.Helper()
	image, err := cluster.LoadCommand(r.t.Context(), "probe", "./test/e2e/probe")
	if err != nil {
		r.t.Fatal(err)
	}
	pod := &corev1.Pod{}
	if err := kube.Get(r.t.Context(), client.ObjectKey{Namespace: r.namespace, Name: receiverName}, pod); err != nil {
		r.t.Fatal(err)
	}
	address := pod.Status.PodIP + ":8443"
	labels := n.pods()[0].Labels
	delete(labels, "pod-template-hash") // it is not the Deployment's
	got := probe(r.t, r.namespace, "probe-"+n.key.Name, image, labels, address)
	if diff := cmp.Diff(map[string]string{address: want}, got); diff != "" {
		r.t.Errorf("what pods of %s reach (-want +got):\n%s", n.key, diff)
	}
}
