// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"fmt"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/anamnesis-dev/anamnesis/api/logo"
	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// drawing is a logo that says something.
func drawing(words string) string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg"><title>%s</title></svg>`, words)
}

// A configuredPage is what the server of acme reads of its pages.
type configuredPage struct {
	Name            string              `json:"name"`
	Logo            string              `json:"logo"`
	Colors          v1alpha1.PageColors `json:"colors"`
	EmergencyNumber string              `json:"emergencyNumber"`
}

func (p *platform) configuredPage() configuredPage {
	p.t.Helper()
	var config struct {
		Page configuredPage `json:"page"`
	}
	text := read(p, "acme-config", &corev1.ConfigMap{}).Data["config.yaml"]
	if err := yaml.Unmarshal([]byte(text), &config); err != nil {
		p.t.Fatal(err)
	}
	return config.Page
}

// configuredLogo is what the logo of acme holds.
func (p *platform) configuredLogo() string {
	p.t.Helper()
	found, err := logo.Parse(p.configuredPage().Logo)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(found.Data)
}

func (p *platform) createLogo(name string, binary map[string][]byte, text map[string]string) {
	p.t.Helper()
	configMap := &corev1.ConfigMap{ObjectMeta: objectMeta(p.namespace, name), BinaryData: binary, Data: text}
	metav1.SetMetaDataLabel(&configMap.ObjectMeta, v1alpha1.WatchLabel, "true")
	p.create(configMap)
}

func (p *platform) editLogo(name, content string) {
	p.t.Helper()
	edit(p, name, &corev1.ConfigMap{}, func(configMap *corev1.ConfigMap) { configMap.Data = map[string]string{"logo": content} })
}

// TestLookReachesTheServer: colours in which not everybody can read are told with
// their ratios and not taken, and nothing else waits for them.
func TestLookReachesTheServer(t *testing.T) {
	p := newPlatform(t)
	acme := p.instance("acme")
	acme.Spec.Page = &v1alpha1.Page{Name: "Acme Health", Colors: &v1alpha1.PageColors{Primary: "#1d1d1d"}}
	p.create(acme)
	p.reaches("acme", "Ready=True Ready", "PageReady=True PageConfigured")
	good := v1alpha1.PageColors{Primary: "#1d1d1d", Accent: "#00703c"}
	p.Expect(p.configuredPage()).To(gomega.Equal(configuredPage{Name: "Acme Health", Colors: good}))

	p.editInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Spec.Page.Colors.Primary = "#ffdd00"
		instance.Spec.Page.Colors.Accent = "#595959"
		instance.Spec.Page.EmergencyNumber = "112"
	})
	p.reaches("acme", "Ready=True Ready", "PageReady=False LowContrast")
	p.Expect(p.message("acme", "PageReady")).To(gomega.And(
		gomega.ContainSubstring("primary #ffdd00 has a contrast of 1.34:1"), gomega.ContainSubstring("accent #595959 one of 7:1"), gomega.ContainSubstring("at least 4.5:1")))
	p.settle()
	p.Expect(p.configuredPage()).To(gomega.Equal(configuredPage{Name: "Acme Health", Colors: good, EmergencyNumber: "112"}),
		"the colours that were good stay, both of them, and the number does not wait for them")
	p.startOperator(serverImage)
	p.settle()
	p.Expect(p.configuredPage().Colors).To(gomega.Equal(good), "another operator keeps them as well")

	p.editInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Page.Colors.Primary = "#aa0000" })
	p.reaches("acme", "PageReady=True PageConfigured")
	p.Expect(p.configuredPage().Colors).To(gomega.Equal(v1alpha1.PageColors{Primary: "#aa0000", Accent: "#595959"}))

	p.editInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Page = nil })
	p.Eventually(p.configuredPage).Should(gomega.BeZero())
	p.Eventually(func() string { return p.message("acme", "PageReady") }).Should(gomega.BeEmpty())
	p.Expect(p.templates("acme")).To(gomega.HaveLen(1), "a look restarts nothing")
}

// TestLogoIsCopied, and again when it changes. While there is none, or what is there
// is none, the one that was good last stays.
func TestLogoIsCopied(t *testing.T) {
	p := newPlatform(t)
	acme := p.instance("acme")
	acme.Spec.Page = &v1alpha1.Page{Logo: &v1alpha1.PageLogo{ConfigMapRef: v1alpha1.LogoReference{Name: "acme-logo"}}}
	p.create(acme)
	p.reaches("acme", "Ready=True Ready", "PageReady=False LogoNotFound")
	p.Expect(p.message("acme", "PageReady")).To(gomega.ContainSubstring("ConfigMap acme-logo does not exist: make it, with a PNG, JPEG, WebP or SVG picture of at most 128 KiB under the key logo"))

	p.createLogo("acme-logo", map[string][]byte{"logo": []byte(drawing("first"))}, nil)
	p.reaches("acme", "Ready=True Ready", "PageReady=True PageConfigured")
	p.Expect(p.configuredLogo()).To(gomega.Equal(drawing("first")))

	edit(p, "acme-logo", &corev1.ConfigMap{}, func(configMap *corev1.ConfigMap) {
		configMap.BinaryData, configMap.Data = nil, map[string]string{"logo": drawing("second")}
	})
	p.Eventually(p.configuredLogo).Should(gomega.Equal(drawing("second")))

	p.editLogo("acme-logo", "GIF89a")
	p.reaches("acme", "Ready=True Ready", "PageReady=False LogoInvalid")
	p.Expect(p.message("acme", "PageReady")).To(gomega.ContainSubstring("expected a PNG, JPEG, WebP or SVG picture of at most 128 KiB"))
	p.settle()
	p.Expect(p.configuredLogo()).To(gomega.Equal(drawing("second")), "what was good last stays")

	p.editLogo("acme-logo", drawing(strings.Repeat("x", logo.MostBytes)))
	p.Eventually(func() string { return p.message("acme", "PageReady") }).Should(gomega.ContainSubstring("it has 131"))
	p.editInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Spec.Page.Logo.ConfigMapRef.Key = "dark"
		instance.Spec.Page.Colors = &v1alpha1.PageColors{Primary: "#ffdd00"}
	})
	p.reaches("acme", "Ready=True Ready", "PageReady=False LowContrast")
	p.Expect(p.message("acme", "PageReady")).To(gomega.ContainSubstring("; ConfigMap acme-logo has no key dark"))
	p.Expect(p.configuredLogo()).To(gomega.Equal(drawing("second")))

	p.editInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Page.Logo, instance.Spec.Page.Colors = nil, nil })
	p.reaches("acme", "PageReady=True PageConfigured")
	p.Expect(p.configuredLogo()).To(gomega.BeEmpty())
}

// TestOlderServersHaveNoPages, and are not told of them before they can have.
func TestOlderServersHaveNoPages(t *testing.T) {
	p := newPlatform(t)
	acme := p.instance("acme")
	acme.Spec.Page = &v1alpha1.Page{Name: "Acme Health"}
	p.create(acme)
	p.reaches("acme", "Ready=True Ready", "PageReady=True PageConfigured")
	p.pinTo("acme", 4)
	p.reaches("acme", "PageReady=False AwaitsServer")
	p.Eventually(p.configuredPage).Should(gomega.BeZero())
	p.editInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Rollout = nil })
	p.reaches("acme", "PageReady=True PageConfigured")
	p.Eventually(p.configuredPage).Should(gomega.Equal(configuredPage{Name: "Acme Health"}))
}
