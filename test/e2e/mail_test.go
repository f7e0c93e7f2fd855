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

// A letterbox is a mail server in a namespace, as a tenant may have one.
type letterbox struct {
	t         *testing.T
	namespace string
}

const letterboxName = "letterbox"

// letterboxPort is both of its pod and its Service, since policies speak of pods.
const letterboxPort = 2525

// startLetterbox starts a mail server, and makes the Secret that says how it is
// reached.
func startLetterbox(t *testing.T, namespace string) letterbox {
	t.Helper()
	image, err := cluster.LoadCommand(t.Context(), letterboxName, "./test/e2e/letterbox")
	if err != nil {
		t.Fatal(err)
	}
	host := letterboxName + "." + namespace + ".svc"
	pod := onePod(namespace, letterboxName, image, map[string]string{"app": letterboxName}, ":2525", host)
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: letterboxName},
		Spec: corev1.ServiceSpec{
			Selector: pod.Labels,
			Ports:    []corev1.ServicePort{{Port: letterboxPort, TargetPort: intstr.FromInt32(letterboxPort)}},
		},
	}
	for _, object := range []client.Object{pod, service} {
		if err := kube.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	box := letterbox{t, namespace}
	NewWithT(t).Eventually(box.authority, patience, "500ms").ShouldNot(BeEmpty(), "the mail server said nothing")
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: letterboxName},
		StringData: map[string]string{"host": host, "port": "2525", "from": "Acme <no-reply@acme.example>", "ca.crt": box.authority()},
	}
	if err := kube.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	return box
}

// onePod is a pod that runs an image once, as the restricted level wants it.
func onePod(namespace, name, image string, labels map[string]string, args ...string) *corev1.Pod {
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

// said is what the mail server has printed so far.
func (b letterbox) said() (lines []map[string]string) {
	logs, err := cluster.Kubectl(b.t.Context(), "logs", "--namespace", b.namespace, letterboxName)
	if err != nil {
		return nil // it has not begun yet
	}
	for line := range strings.Lines(logs) {
		said := map[string]string{}
		if err := json.Unmarshal([]byte(line), &said); err != nil {
			b.t.Errorf("the mail server said %q: %v", line, err)
		}
		lines = append(lines, said)
	}
	return lines
}

func (b letterbox) authority() string {
	for _, said := range b.said() {
		return said["authority"]
	}
	return ""
}

// letters are those to an address, in their order.
func (b letterbox) letters(to string) (letters []string) {
	for _, said := range b.said() {
		if said["to"] == to {
			letters = append(letters, said["letter"])
		}
	}
	return letters
}

// sendBy has an Instance send its messages by the letterbox.
func sendBy(spec v1alpha1.InstanceSpec) v1alpha1.InstanceSpec {
	spec.Notifications = &v1alpha1.Notifications{SMTP: &v1alpha1.NotificationSender{SecretRef: v1alpha1.SecretReference{Name: letterboxName}}}
	return spec
}

var sixDigits = regexp.MustCompile(`\b[0-9]{6}\b`)

// mustSignIn has the user of the tests sign in by a code from a letter.
func (b letterbox) mustSignIn(n tenant) {
	b.t.Helper()
	caller := n.calls(n.relay())
	before := len(b.letters(userAddress))
	if _, err := caller.postJSON(b.t.Context(), "/api/mgp/v1/auth/otp", map[string]string{"email": userAddress}); err != nil {
		b.t.Fatal(err)
	}
	var letters []string
	NewWithT(b.t).Eventually(func() []string {
		letters = b.letters(userAddress)
		return letters
	}, patience, "500ms").Should(HaveLen(before+1), "letters to the user")
	code := sixDigits.FindString(letters[before])
	answer, err := caller.postJSON(b.t.Context(), "/api/mgp/v1/auth/login/otp", map[string]string{"email": userAddress, "otp": code})
	if err != nil || answer["token"] == "" {
		b.t.Fatalf("signing in by the code of a letter: %v", err)
	}
}
