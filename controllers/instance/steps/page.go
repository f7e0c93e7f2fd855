// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/api/logo"
	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/children"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

// Reasons of PageReady.
const (
	reasonPageConfigured = "PageConfigured"
	reasonLowContrast    = "LowContrast"
	reasonLogoNotFound   = "LogoNotFound"
	reasonLogoInvalid    = "LogoInvalid"
)

// readLook learns how pages are to look. What is wrong with the colours or the logo
// stops nothing else, the name and the numbers beside it neither: what was good last
// stays, which is in the configuration that the server reads.
func (v *Visit) readLook(ctx context.Context) error {
	switch {
	case v.Instance.Spec.Page == nil:
		meta.RemoveStatusCondition(&v.Instance.Status.Conditions, v1alpha1.ConditionPageReady)
		return nil
	case !v.input.ShowsPages():
		v.mark(v1alpha1.ConditionPageReady, metav1.ConditionFalse, reasonAwaitsServer,
			"there are pages when this Instance has moved to the server that all are to have")
		return nil
	}
	if live := children.As[*corev1.ConfigMap](v.Children, "ConfigMap", resources.ConfigName(v.Instance)); live != nil {
		v.input.Look = resources.LookIn(live.Data)
	}
	var wrong []*problem.Problem
	for _, take := range []func(context.Context) error{v.takeColors, v.takeLogo} {
		err := take(ctx)
		found := problem.Of(err)
		if err != nil && found == nil {
			return err
		}
		if found != nil {
			wrong = append(wrong, found)
		}
	}
	if len(wrong) > 0 {
		v.markWrong(wrong)
		return nil
	}
	v.mark(v1alpha1.ConditionPageReady, metav1.ConditionTrue, reasonPageConfigured, "pages look as the spec says")
	return nil
}

// takeColors takes the colours of the spec in which everybody can read. They were
// chosen to go together, so that one which is refused keeps the other back as well.
func (v *Visit) takeColors(context.Context) error {
	colors := v.Instance.Spec.Page.Colors
	if colors != nil {
		if err := resources.CheckColors(*colors); err != nil {
			return problem.Stalled(v1alpha1.ConditionPageReady, reasonLowContrast, "spec.page.colors: %v; until then pages keep the colours that they have", err)
		}
	}
	v.input.Look.Colors = colors
	return nil
}

// takeLogo takes a copy of the logo, if it is a picture that pages can show. One that was
// judged before and is in the configuration is not looked at again.
func (v *Visit) takeLogo(ctx context.Context) error {
	reference := resources.LogoOf(v.Instance)
	if reference == nil {
		v.input.Look.Logo = ""
		return nil
	}
	want := logo.Wanted + " under the key " + reference.Key
	version, err := v.ConfigMapVersion(ctx, v1alpha1.ConditionPageReady, reasonLogoNotFound, reference.Name, want)
	if err != nil {
		return err
	}
	if last := v.logos.of(v.Instance.UID); last.isOf(version, reference.Key) && last.holds(v.input.Look.Logo) {
		return last.refusal
	}
	found, err := v.ConfigMap(ctx, v1alpha1.ConditionPageReady, reasonLogoNotFound, reference.Name, want)
	if err != nil {
		return err
	}
	taken, refusal := logoIn(found, reference)
	if refusal == nil {
		v.input.Look.Logo = taken
	}
	v.logos.keep(v.Instance.UID, judge(found, reference.Key, v.input.Look.Logo, refusal))
	return refusal
}

// logoIn is the logo that a ConfigMap holds, as a data URL.
func logoIn(found *corev1.ConfigMap, reference *v1alpha1.LogoReference) (string, error) {
	content, inBinary := found.BinaryData[reference.Key]
	text, inText := found.Data[reference.Key]
	if !inBinary && !inText {
		return "", problem.Waiting(v1alpha1.ConditionPageReady, reasonLogoNotFound, "ConfigMap %s has no key %s: put %s there", reference.Name, reference.Key, logo.Wanted)
	}
	if inText {
		content = []byte(text)
	}
	picture, err := logo.Of(content)
	if err != nil {
		return "", problem.Stalled(v1alpha1.ConditionPageReady, reasonLogoInvalid, "ConfigMap %s, key %s: %v", reference.Name, reference.Key, err)
	}
	return picture.DataURL(), nil
}
