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

// loadBranding loads the branding of pages. Invalid colors or an invalid logo block no
// other setting: the last valid value, which the server's configuration holds, stays in
// use.
func (s *scope) loadBranding(ctx context.Context) error {
	if s.Instance.Spec.Page == nil {
		meta.RemoveStatusCondition(&s.Instance.Status.Conditions, v1alpha1.ConditionPageReady)
		return nil
	}
	if live := inventory.Find[*corev1.ConfigMap](s.Objects, "ConfigMap", resources.ConfigMapName(s.Instance)); live != nil {
		s.input.Branding = resources.ParseBranding(live.Data)
	}
	var problems []*problem.Error
	for _, load := range []func(context.Context) error{s.loadColors, s.loadLogo} {
		err := load(ctx)
		found := problem.FromError(err)
		if err != nil && found == nil {
			return err
		}
		if found != nil {
			problems = append(problems, found)
		}
	}
	if len(problems) > 0 {
		s.setConditionFromFailures(problems)
		return nil
	}
	s.setCondition(v1alpha1.ConditionPageReady, metav1.ConditionTrue, reasonPageConfigured, "pages use the branding in the spec")
	return nil
}

// loadColors accepts the colors of the spec if their contrast is sufficient. If one color
// is rejected, neither is used, because they are meant to match.
func (s *scope) loadColors(context.Context) error {
	colors := s.Instance.Spec.Page.Colors
	if colors != nil {
		if err := resources.ValidateColors(*colors); err != nil {
			return problem.Stalled(v1alpha1.ConditionPageReady, reasonLowContrast, "spec.page.colors: %v; until then, pages keep their current colors", err)
		}
	}
	s.input.Branding.Colors = colors
	return nil
}

// loadLogo copies the logo if pages can show it. It skips the validation if it has already
// validated this version and the configuration contains the result.
func (s *scope) loadLogo(ctx context.Context) error {
	reference := resources.LogoReferenceFor(s.Instance)
	if reference == nil {
		s.input.Branding.Logo = ""
		return nil
	}
	expected := branding.LogoRequirements + " under the key " + reference.Key
	version, err := s.GetConfigMapMetadata(ctx, v1alpha1.ConditionPageReady, reasonLogoNotFound, reference.Name, expected)
	if err != nil {
		return err
	}
	if last := s.logoCache.get(s.Instance.UID); last.isForVersion(version, reference.Key) && last.isForLogo(s.input.Branding.Logo) {
		return last.err
	}
	configMap, err := s.GetConfigMap(ctx, v1alpha1.ConditionPageReady, reasonLogoNotFound, reference.Name, expected)
	if err != nil {
		return err
	}
	logo, validationErr := logoFromConfigMap(configMap, reference)
	if validationErr == nil {
		s.input.Branding.Logo = logo
	}
	s.logoCache.put(s.Instance.UID, newLogoValidation(configMap, reference.Key, s.input.Branding.Logo, validationErr))
	return validationErr
}

// logoFromConfigMap returns the logo in a ConfigMap as a data URL.
func logoFromConfigMap(configMap *corev1.ConfigMap, reference *v1alpha1.ConfigMapKeyReference) (string, error) {
	content, inBinary := configMap.BinaryData[reference.Key]
	text, inText := configMap.Data[reference.Key]
	if !inBinary && !inText {
		return "", problem.Waiting(v1alpha1.ConditionPageReady, reasonLogoNotFound, "ConfigMap %s has no key %s: add it with %s", reference.Name, reference.Key, branding.LogoRequirements)
	}
	if inText {
		content = []byte(text)
	}
	logo, err := branding.NewLogo(content)
	if err != nil {
		return "", problem.Stalled(v1alpha1.ConditionPageReady, reasonLogoInvalid, "ConfigMap %s, key %s: %v", reference.Name, reference.Key, err)
	}
	return logo.DataURL(), nil
}
