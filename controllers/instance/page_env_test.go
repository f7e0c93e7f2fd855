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
func newSVG(words string) string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg"><title>%s</title></svg>`, words)
}

// configuredPage returns the page configuration of acme's server.
func (p *harness) configuredPage() configv1alpha1.Page {
	p.t.Helper()
	if page := p.serverConfig("acme").Page; page != nil {
		return *page
	}
	return configv1alpha1.Page{}
}

// configuredLogo returns the content of acme's configured logo.
func (p *harness) configuredLogo() string {
	p.t.Helper()
	found, err := branding.ParseLogo(p.configuredPage().Logo)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(found.Data)
}

func (p *harness) createLogo(name string, binary map[string][]byte, text map[string]string) {
	p.t.Helper()
	configMap := &corev1.ConfigMap{ObjectMeta: objectMeta(p.namespace, name), BinaryData: binary, Data: text}
	metav1.SetMetaDataLabel(&configMap.ObjectMeta, v1alpha1.WatchLabel, "true")
	p.mustCreate(configMap)
}

func (p *harness) editLogo(name, content string) {
	p.t.Helper()
	mustUpdate(p, name, &corev1.ConfigMap{}, func(configMap *corev1.ConfigMap) { configMap.Data = map[string]string{"logo": content} })
}

// TestBrandingReachesServer checks that colors with insufficient contrast are rejected
// and reported with their ratios, and block nothing else.
func TestBrandingReachesServer(t *testing.T) {
	p := newHarness(t)
	acme := p.newInstance("acme")
	acme.Spec.Page = &v1alpha1.Page{Name: "Acme Health", Colors: &v1alpha1.PageColors{Primary: "#1d1d1d"}}
	p.mustCreate(acme)
	p.waitForConditions("acme", "Ready=True Ready", "PageReady=True PageConfigured")
	good := &configv1alpha1.Colors{Primary: "#1d1d1d", Accent: "#00703c"}
	p.Expect(p.configuredPage()).To(gomega.Equal(configv1alpha1.Page{Name: "Acme Health", Colors: good}))

	p.updateInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Spec.Page.Colors.Primary = "#ffdd00"
		instance.Spec.Page.Colors.Accent = "#595959"
		instance.Spec.Page.EmergencyNumber = "112"
	})
	p.waitForConditions("acme", "Ready=True Ready", "PageReady=False LowContrast")
	p.Expect(p.conditionMessage("acme", "PageReady")).To(gomega.And(
		gomega.ContainSubstring("primary #ffdd00 has a contrast of 1.34:1"), gomega.ContainSubstring("accent #595959 has 7:1"), gomega.ContainSubstring("at least 4.5:1")))
	p.waitUntilIdle()
	p.Expect(p.configuredPage()).To(gomega.Equal(configv1alpha1.Page{Name: "Acme Health", Colors: good, EmergencyNumber: "112"}),
		"the colours that were good stay, both of them, and the number does not wait for them")
	p.startOperator(serverImage)
	p.waitUntilIdle()
	p.Expect(p.configuredPage().Colors).To(gomega.Equal(good), "another operator keeps them as well")

	p.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Page.Colors.Primary = "#aa0000" })
	p.waitForConditions("acme", "PageReady=True PageConfigured")
	p.Expect(p.configuredPage().Colors).To(gomega.Equal(&configv1alpha1.Colors{Primary: "#aa0000", Accent: "#595959"}))

	p.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Page = nil })
	p.Eventually(p.configuredPage).Should(gomega.BeZero())
	p.Eventually(func() string { return p.conditionMessage("acme", "PageReady") }).Should(gomega.BeEmpty())
	p.Expect(p.templateHashes("acme")).To(gomega.HaveLen(1), "a look restarts nothing")
}

// TestLogoIsCopied checks that the logo is copied, and copied again when it changes.
// While it is missing or invalid, the last valid logo stays in use.
func TestLogoIsCopied(t *testing.T) {
	p := newHarness(t)
	acme := p.newInstance("acme")
	acme.Spec.Page = &v1alpha1.Page{Logo: &v1alpha1.PageLogo{ConfigMapRef: v1alpha1.ConfigMapKeyReference{Name: "acme-logo"}}}
	p.mustCreate(acme)
	p.waitForConditions("acme", "Ready=True Ready", "PageReady=False LogoNotFound")
	p.Expect(p.conditionMessage("acme", "PageReady")).To(gomega.ContainSubstring("ConfigMap acme-logo does not exist: create it with a PNG, JPEG, WebP or SVG image of at most 128 KiB under the key logo"))

	p.createLogo("acme-logo", map[string][]byte{"logo": []byte(newSVG("first"))}, nil)
	p.waitForConditions("acme", "Ready=True Ready", "PageReady=True PageConfigured")
	p.Expect(p.configuredLogo()).To(gomega.Equal(newSVG("first")))

	mustUpdate(p, "acme-logo", &corev1.ConfigMap{}, func(configMap *corev1.ConfigMap) {
		configMap.BinaryData, configMap.Data = nil, map[string]string{"logo": newSVG("second")}
	})
	p.Eventually(p.configuredLogo).Should(gomega.Equal(newSVG("second")))

	p.editLogo("acme-logo", "GIF89a")
	p.waitForConditions("acme", "Ready=True Ready", "PageReady=False LogoInvalid")
	p.Expect(p.conditionMessage("acme", "PageReady")).To(gomega.ContainSubstring("expected a PNG, JPEG, WebP or SVG image of at most 128 KiB"))
	p.waitUntilIdle()
	p.Expect(p.configuredLogo()).To(gomega.Equal(newSVG("second")), "what was good last stays")

	p.editLogo("acme-logo", newSVG(strings.Repeat("x", branding.MaxLogoBytes)))
	p.Eventually(func() string { return p.conditionMessage("acme", "PageReady") }).Should(gomega.ContainSubstring("it has 131"))
	p.updateInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Spec.Page.Logo.ConfigMapRef.Key = "dark"
		instance.Spec.Page.Colors = &v1alpha1.PageColors{Primary: "#ffdd00"}
	})
	p.waitForConditions("acme", "Ready=True Ready", "PageReady=False LowContrast")
	p.Expect(p.conditionMessage("acme", "PageReady")).To(gomega.ContainSubstring("; ConfigMap acme-logo has no key dark"))
	p.Expect(p.configuredLogo()).To(gomega.Equal(newSVG("second")))

	p.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Page.Logo, instance.Spec.Page.Colors = nil, nil })
	p.waitForConditions("acme", "PageReady=True PageConfigured")
	p.Expect(p.configuredLogo()).To(gomega.BeEmpty())
}
