// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"fmt"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/api/config/branding"
	configv1alpha1 "github.com/anamnesis-dev/anamnesis/api/config/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// newSVG returns a logo that shows text.
func newSVG(title string) string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg"><title>%s</title></svg>`, title)
}

// configuredPage returns the page configuration of acme's server.
func (h *harness) configuredPage() configv1alpha1.Page {
	h.t.Helper()
	if page := h.serverConfig("acme").Page; page != nil {
		return *page
	}
	return configv1alpha1.Page{}
}

// configuredLogo returns the content of acme's configured logo.
func (h *harness) configuredLogo() string {
	h.t.Helper()
	logo, err := branding.ParseLogo(h.configuredPage().Logo)
	if err != nil {
		h.t.Fatal(err)
	}
	return string(logo.Data)
}

func (h *harness) createLogo(name string, binary map[string][]byte, text map[string]string) {
	h.t.Helper()
	configMap := &corev1.ConfigMap{ObjectMeta: objectMeta(h.namespace, name), BinaryData: binary, Data: text}
	metav1.SetMetaDataLabel(&configMap.ObjectMeta, v1alpha1.WatchLabel, "true")
	h.mustCreate(configMap)
}

func (h *harness) editLogo(name, content string) {
	h.t.Helper()
	mustUpdate(h, name, &corev1.ConfigMap{}, func(configMap *corev1.ConfigMap) { configMap.Data = map[string]string{"logo": content} })
}

// TestBrandingReachesServer checks that colors with insufficient contrast are rejected
// and reported with their ratios, and block nothing else.
func TestBrandingReachesServer(t *testing.T) {
	h := newHarness(t)
	acme := h.newInstance("acme")
	acme.Spec.Page = &v1alpha1.Page{Name: "Acme Health", Colors: &v1alpha1.PageColors{Primary: "#1d1d1d"}}
	h.mustCreate(acme)
	h.waitForConditions("acme", "Ready=True Ready", "PageReady=True PageConfigured")
	good := &configv1alpha1.Colors{Primary: "#1d1d1d", Accent: "#00703c"}
	h.Expect(h.configuredPage()).To(gomega.Equal(configv1alpha1.Page{Name: "Acme Health", Colors: good}))

	h.updateInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Spec.Page.Colors.Primary = "#ffdd00"
		instance.Spec.Page.Colors.Accent = "#595959"
		instance.Spec.Page.EmergencyNumber = "112"
	})
	h.waitForConditions("acme", "Ready=True Ready", "PageReady=False LowContrast")
	h.Expect(h.conditionMessage("acme", "PageReady")).To(gomega.And(
		gomega.ContainSubstring("primary #ffdd00 has a contrast of 1.34:1"), gomega.ContainSubstring("accent #595959 has 7:1"), gomega.ContainSubstring("at least 4.5:1")))
	h.waitUntilIdle()
	h.Expect(h.configuredPage()).To(gomega.Equal(configv1alpha1.Page{Name: "Acme Health", Colors: good, EmergencyNumber: "112"}),
		"both valid colors must stay in use, and the number must change")
	h.startOperator(serverImage)
	h.waitUntilIdle()
	h.Expect(h.configuredPage().Colors).To(gomega.Equal(good), "a restarted operator must keep them")

	h.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Page.Colors.Primary = "#aa0000" })
	h.waitForConditions("acme", "PageReady=True PageConfigured")
	h.Expect(h.configuredPage().Colors).To(gomega.Equal(&configv1alpha1.Colors{Primary: "#aa0000", Accent: "#595959"}))

	h.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Page = nil })
	h.Eventually(h.configuredPage).Should(gomega.BeZero())
	h.Eventually(func() string { return h.conditionMessage("acme", "PageReady") }).Should(gomega.BeEmpty())
	h.Expect(h.templateHashes("acme")).To(gomega.HaveLen(1), "branding must not restart pods")
}

// TestLogoIsCopied checks that the logo is copied, and copied again when it changes.
// While it is missing or invalid, the last valid logo stays in use.
func TestLogoIsCopied(t *testing.T) {
	h := newHarness(t)
	acme := h.newInstance("acme")
	acme.Spec.Page = &v1alpha1.Page{Logo: &v1alpha1.PageLogo{ConfigMapRef: v1alpha1.ConfigMapKeyReference{Name: "acme-logo"}}}
	h.mustCreate(acme)
	h.waitForConditions("acme", "Ready=True Ready", "PageReady=False LogoNotFound")
	h.Expect(h.conditionMessage("acme", "PageReady")).To(gomega.ContainSubstring("ConfigMap acme-logo not found: create it with a PNG, JPEG, WebP or SVG image of at most 128 KiB under the key logo"))

	h.createLogo("acme-logo", map[string][]byte{"logo": []byte(newSVG("first"))}, nil)
	h.waitForConditions("acme", "Ready=True Ready", "PageReady=True PageConfigured")
	h.Expect(h.configuredLogo()).To(gomega.Equal(newSVG("first")))

	mustUpdate(h, "acme-logo", &corev1.ConfigMap{}, func(configMap *corev1.ConfigMap) {
		configMap.BinaryData, configMap.Data = nil, map[string]string{"logo": newSVG("second")}
	})
	h.Eventually(h.configuredLogo).Should(gomega.Equal(newSVG("second")))

	h.editLogo("acme-logo", "GIF89a")
	h.waitForConditions("acme", "Ready=True Ready", "PageReady=False LogoInvalid")
	h.Expect(h.conditionMessage("acme", "PageReady")).To(gomega.ContainSubstring("expected a PNG, JPEG, WebP or SVG image of at most 128 KiB"))
	h.waitUntilIdle()
	h.Expect(h.configuredLogo()).To(gomega.Equal(newSVG("second")), "the last valid value must stay in use")

	h.editLogo("acme-logo", newSVG(strings.Repeat("x", branding.MaxLogoBytes)))
	h.Eventually(func() string { return h.conditionMessage("acme", "PageReady") }).Should(gomega.ContainSubstring("logo size of 131"))
	h.updateInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Spec.Page.Logo.ConfigMapRef.Key = "dark"
		instance.Spec.Page.Colors = &v1alpha1.PageColors{Primary: "#ffdd00"}
	})
	h.waitForConditions("acme", "Ready=True Ready", "PageReady=False LowContrast")
	h.Expect(h.conditionMessage("acme", "PageReady")).To(gomega.ContainSubstring("; ConfigMap acme-logo has no key dark"))
	h.Expect(h.configuredLogo()).To(gomega.Equal(newSVG("second")))

	h.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Page.Logo, instance.Spec.Page.Colors = nil, nil })
	h.waitForConditions("acme", "PageReady=True PageConfigured")
	h.Expect(h.configuredLogo()).To(gomega.BeEmpty())
}
