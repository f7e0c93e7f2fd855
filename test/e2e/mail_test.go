// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// An smtpSink is a mail server in a tenant's namespace that prints the messages it
// receives.
type smtpSink struct {
	t         *testing.T
	namespace string
}

const smtpSinkName = "smtp-sink"

// smtpSinkPort is the port of both the pod and the Service, because network policies
// apply to pod ports.
const smtpSinkPort = 2525

// startSMTPSink starts a mail server and creates the Secret with its connection
// settings.
func startSMTPSink(t *testing.T, namespace string) smtpSink {
	t.Helper()
	image, err := cluster.BuildAndLoadImage(t.Context(), smtpSinkName, "./test/e2e/smtpsink")
	if err != nil {
		t.Fatal(err)
	}
	host := smtpSinkName + "." + namespace + ".svc"
	pod := newTestPod(namespace, smtpSinkName, image, map[string]string{"app": smtpSinkName}, ":2525", host)
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: smtpSinkName},
		Spec: corev1.ServiceSpec{
			Selector: pod.Labels,
			Ports:    []corev1.ServicePort{{Port: smtpSinkPort, TargetPort: intstr.FromInt32(smtpSinkPort)}},
		},
	}
	for _, object := range []client.Object{pod, service} {
		if err := kubeClient.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	box := smtpSink{t, namespace}
	NewWithT(t).Eventually(box.caCertificate, defaultTimeout, "500ms").ShouldNot(BeEmpty(), "the mail server said nothing")
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: smtpSinkName},
		StringData: map[string]string{"host": host, "port": "2525", "from": "Acme <no-reply@acme.example>", "ca.crt": box.caCertificate()},
	}
	if err := kubeClient.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	return box
}

// newTestPod returns a pod that runs an image once and complies with the restricted Pod
// Security level.
func newTestPod(namespace, name, image string, labels map[string]string, args ...string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot:   ptr.To(true),
				RunAsUser:      ptr.To[int64](65532),
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{
				Name: name, Image: image, Args: args,
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: ptr.To(false),
					Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
			}},
		},
	}
}

// outputLines returns the lines that the mail server has printed so far.
func (s smtpSink) outputLines() (lines []map[string]string) {
	logs, err := cluster.Kubectl(s.t.Context(), "logs", "--namespace", s.namespace, smtpSinkName)
	if err != nil {
		return nil // the container has not started yet
	}
	for line := range strings.Lines(logs) {
		said := map[string]string{}
		if err := json.Unmarshal([]byte(line), &said); err != nil {
			s.t.Errorf("invalid output %q of the mail server: %v", line, err)
		}
		lines = append(lines, said)
	}
	return lines
}

func (s smtpSink) caCertificate() string {
	for _, said := range s.outputLines() {
		return said["authority"]
	}
	return ""
}

// messagesTo returns the messages to an address, oldest first.
func (s smtpSink) messagesTo(to string) (messagesTo []string) {
	for _, said := range s.outputLines() {
		if said["to"] == to {
			messagesTo = append(messagesTo, said["letter"])
		}
	}
	return messagesTo
}

// withSMTPSink configures the spec to send messages through the mail server.
func withSMTPSink(spec v1alpha1.InstanceSpec) v1alpha1.InstanceSpec {
	spec.Notifications = &v1alpha1.Notifications{SMTP: &v1alpha1.NotificationSender{SecretRef: v1alpha1.SecretReference{Name: smtpSinkName}}}
	return spec
}

var codePattern = regexp.MustCompile(`\b[0-9]{6}\b`)

// mustSignIn signs the test user in with a one-time code received by email.
func (s smtpSink) mustSignIn(n tenant) {
	s.t.Helper()
	caller := n.newCaller(n.relay())
	before := len(s.messagesTo(userEmail))
	if _, err := caller.postJSON(s.t.Context(), "/api/mgp/v1/auth/otp", map[string]string{"email": userEmail}); err != nil {
		s.t.Fatal(err)
	}
	var letters []string
	NewWithT(s.t).Eventually(func() []string {
		letters = s.messagesTo(userEmail)
		return letters
	}, defaultTimeout, "500ms").Should(HaveLen(before+1), "letters to the user")
	code := codePattern.FindString(letters[before])
	answer, err := caller.postJSON(s.t.Context(), "/api/mgp/v1/auth/login/otp", map[string]string{"email": userEmail, "otp": code})
	if err != nil || answer["token"] == "" {
		s.t.Fatalf("signing in with the code from an email: %v", err)
	}
}
