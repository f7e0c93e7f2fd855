// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/api/config/branding"
	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/inventory"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/problem"
)

// Reasons of the PageReady condition.
const (
	reasonPageConfigured = "PageConfigured"
	reasonLowContrast    = "LowContrast"
	reasonLogoNotFound   = "LogoNotFound"
	reasonLogoInvalid    = "LogoInvalid"
)

// loadBranding loads the branding of pages. Invalid colors or an invalid logo block
// nothing else, including the name and the phone numbers: the last valid value, which
// the server's configuration holds, stays in use.
func (v *scope) loadBranding(ctx context.Context) error {
	if v.Instance.Spec.Page == nil {
		meta.RemoveStatusCondition(&v.Instance.Status.Conditions, v1alpha1.ConditionPageReady)
		return nil
	}
	if live := inventory.Find[*corev1.ConfigMap](v.Objects, "ConfigMap", resources.ConfigMapName(v.Instance)); live != nil {
		v.input.Branding = resources.ParseBranding(live.Data)
	}
	var wrong []*problem.Error
	for _, take := range []func(context.Context) error{v.loadColors, v.loadLogo} {
		err := take(ctx)
		found := problem.FromError(err)
		if err != nil && found == nil {
			return err
		}
		if found != nil {
			wrong = append(wrong, found)
		}
	}
	if len(wrong) > 0 {
		v.setConditionFromFailures(wrong)
		return nil
	}
	v.setCondition(v1alpha1.ConditionPageReady, metav1.ConditionTrue, reasonPageConfigured, "pages use the branding in the spec")
	return nil
}

// loadColors accepts the colors of the spec if their contrast is sufficient. The colors
// were chosen to go together, so if one is rejected, neither is used.
func (v *scope) loadColors(context.Context) error {
	colors := v.Instance.Spec.Page.Colors
	if colors != nil {
		if err := resources.ValidateColors(*colors); err != nil {
			return problem.Stalled(v1alpha1.ConditionPageReady, reasonLowContrast, "spec.page.colors: %v; until then, pages keep their current colors", err)
		}
	}
	v.input.Branding.Colors = colors
	return nil
}

// loadLogo copies the logo if it is an image that pages can show. It skips validation if
// this version was validated before and the configuration contains it.
func (v *scope) loadLogo(ctx context.Context) error {
	reference := resources.LogoReferenceFor(v.Instance)
	if reference == nil {
		v.input.Branding.Logo = ""
		return nil
	}
	want := branding.LogoRequirements + " under the key " + reference.Key
	version, err := v.GetConfigMapMetadata(ctx, v1alpha1.ConditionPageReady, reasonLogoNotFound, reference.Name, want)
	if err != nil {
		return err
	}
	if last := v.logoCache.get(v.Instance.UID); last.isForVersion(version, reference.Key) && last.isForLogo(v.input.Branding.Logo) {
		return last.err
	}
	found, err := v.GetConfigMap(ctx, v1alpha1.ConditionPageReady, reasonLogoNotFound, reference.Name, want)
	if err != nil {
		return err
	}
	taken, refusal := logoFromConfigMap(found, reference)
	if refusal == nil {
		v.input.Branding.Logo = taken
	}
	v.logoCache.put(v.Instance.UID, newLogoValidation(found, reference.Key, v.input.Branding.Logo, refusal))
	return refusal
}

// logoFromConfigMap returns the logo in a ConfigMap as a data URL.
func logoFromConfigMap(found *corev1.ConfigMap, reference *v1alpha1.ConfigMapKeyReference) (string, error) {
	content, inBinary := found.BinaryData[reference.Key]
	text, inText := found.Data[reference.Key]
	if !inBinary && !inText {
		return "", problem.Waiting(v1alpha1.ConditionPageReady, reasonLogoNotFound, "ConfigMap %s has no key %s: add it with %s", reference.Name, reference.Key, branding.LogoRequirements)
	}
	if inText {
		content = []byte(text)
	}
	picture, err := branding.NewLogo(content)
	if err != nil {
		return "", problem.Stalled(v1alpha1.ConditionPageReady, reasonLogoInvalid, "ConfigMap %s, key %s: %v", reference.Name, reference.Key, err)
	}
	return picture.DataURL(), nil
}
