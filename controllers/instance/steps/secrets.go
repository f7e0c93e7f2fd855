// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/pki"
)

// applyApplications gives each application its key, once, and the server the
// keys of all. A key whose Secret was deleted is made anew: that is how one is
// rotated. An application whose Secret cannot be had keeps the key by which the
// server knows it.
func (v *Visit) applyApplications(ctx context.Context) error {
	if _, err := v.Children.Secret(ctx, resources.CredentialsName(v.Instance)); err != nil {
		return err // whose keys these are must be settled before any is made
	}
	keys := map[string]string{}
	unhad := eachOf(resources.Applications(v.Instance), func(application v1alpha1.Application) error {
		key, err := v.applyApplication(ctx, application)
		if problem.Of(err) != nil {
			key = v.knownKey(ctx, application.Name)
		}
		if key != "" {
			keys[application.Name] = key
		}
		return err
	})
	if unhad != nil && (problem.Of(unhad) == nil || len(keys) == 0) {
		return unhad
	}
	if err := v.put(ctx, "", resources.BuildCredentialsSecret(v.input, keys)); err != nil {
		return err
	}
	return unhad
}

// knownKey is that by which the server knows an application; empty for none.
func (v *Visit) knownKey(ctx context.Context, application string) string {
	secret, err := v.Children.Secret(ctx, resources.CredentialsName(v.Instance))
	if secret == nil || err != nil {
		return ""
	}
	return resources.KeyIn(secret.Data, application)
}

// adoptedKey is that by which the server of an earlier Instance, whose data this
// one takes up, knew an application; empty for none. Once the credentials are this
// Instance's own, each application's Secret was written.
func (v *Visit) adoptedKey(ctx context.Context, application string) string {
	secret, err := v.Children.Secret(ctx, resources.CredentialsName(v.Instance))
	if secret == nil || err != nil {
		return ""
	}
	if uid := secret.Labels[v1alpha1.InstanceUIDLabel]; uid == "" || uid == string(v.Instance.UID) {
		return ""
	}
	return resources.KeyIn(secret.Data, application)
}

func (v *Visit) applyApplication(ctx context.Context, application v1alpha1.Application) (key string, err error) {
	secret, err := v.Children.Secret(ctx, resources.ApplicationSecretName(v.Instance, application.Name))
	if err != nil {
		return "", err
	}
	if secret == nil {
		if key = v.adoptedKey(ctx, application.Name); key == "" {
			key = pki.NewApplicationKey()
		}
		return key, v.Children.Create(ctx, resources.BuildApplicationSecret(v.input, application, key))
	}
	key = string(secret.Data[resources.ApplicationKeyKey])
	if key == "" {
		key = pki.NewApplicationKey()
	}
	return key, v.put(ctx, "", resources.BuildApplicationSecret(v.input, application, key))
}

// applySigningKeys gives the server keys to sign tokens with, the same for all
// its pods. Keys that are there stay, also those that people added.
func (v *Visit) applySigningKeys(ctx context.Context) error {
	secret, err := v.Children.Secret(ctx, resources.SigningKeysName(v.Instance))
	if err != nil {
		return err
	}
	if files := usableKeys(secret); len(files) > 0 {
		return v.put(ctx, "", resources.BuildSigningKeysSecret(v.input, files))
	}
	id, key, err := pki.NewSigningKey(v.Began)
	if err != nil {
		return err
	}
	object := resources.BuildSigningKeysSecret(v.input, map[string][]byte{id + ".pem": key})
	if secret == nil {
		return v.Children.Create(ctx, object)
	}
	return v.put(ctx, "", object)
}

// usableKeys are the files of a Secret that hold keys the server can use; none
// of a Secret that does not exist.
func usableKeys(secret *corev1.Secret) map[string][]byte {
	if secret == nil {
		return nil
	}
	files := maps.Clone(secret.Data)
	maps.DeleteFunc(files, func(name string, content []byte) bool {
		return !strings.HasSuffix(name, ".pem") || !pki.IsSigningKey(content)
	})
	return files
}
