// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// MaxInstanceNameLength is the maximum length of an Instance's name. It leaves room for
// the name of the preflight Job, which includes a hash of up to 12 characters and must not
// exceed 63 characters. A CEL rule of the Instance enforces the same limit.
const MaxInstanceNameLength = 40

// ServerName returns the name of the Deployment and of the Service, ServiceAccount,
// NetworkPolicy and PodDisruptionBudget.
func ServerName(instance *v1alpha1.Instance) string { return instance.Name }

// DataClaimName returns the name of the volume claim of embedded storage.
func DataClaimName(instance *v1alpha1.Instance) string { return instance.Name + "-data" }

// ConfigMapName returns the name of the ConfigMap with the server's configuration.
func ConfigMapName(instance *v1alpha1.Instance) string { return instance.Name + "-config" }

// CredentialsSecretName returns the name of the Secret with the credentials of all
// applications, which the server reads.
func CredentialsSecretName(instance *v1alpha1.Instance) string { return instance.Name + "-credentials" }

// ApplicationSecretName returns the name of the Secret that provides one application's id and
// key to users and clients.
func ApplicationSecretName(instance *v1alpha1.Instance, application string) string {
	return instance.Name + "-app-" + application
}

// SigningKeysSecretName returns the name of the Secret with the keys that sign tokens.
func SigningKeysSecretName(instance *v1alpha1.Instance) string {
	return instance.Name + "-signing-keys"
}

// KeysetsSecretName returns the name of the Secret with the encryption keysets.
func KeysetsSecretName(instance *v1alpha1.Instance) string { return instance.Name + "-keysets" }

// NotificationsSecretName returns the name of the Secret with the settings of the message
// senders.
func NotificationsSecretName(instance *v1alpha1.Instance) string {
	return instance.Name + "-notifications"
}

// TLSSecretName returns the name of the Secret with the server's certificate, regardless
// of its issuer. The name is not <instance>-tls, because users often give that name to
// their own Secret.
func TLSSecretName(instance *v1alpha1.Instance) string { return instance.Name + "-serving-tls" }

// CASecretName returns the name of the Secret with an Instance's own CA, which only
// Instances with extra DNS names have. It never holds the operator's CA.
func CASecretName(instance *v1alpha1.Instance) string { return instance.Name + "-serving-authority" }

// CAConfigMapName returns the name of the ConfigMap with the CA bundle for clients.
func CAConfigMapName(instance *v1alpha1.Instance) string { return instance.Name + "-ca" }

// PreflightJobName returns the name of the preflight Job for a hash.
func PreflightJobName(instance *v1alpha1.Instance, hash string) string {
	return instance.Name + "-preflight-" + hash
}

// ClusterURL returns the URL of the Instance inside the cluster.
func ClusterURL(instance *v1alpha1.Instance) string {
	return fmt.Sprintf("https://%s.%s.svc", ServerName(instance), instance.Namespace)
}

// PublicURL returns the URL for clients outside the cluster. It defaults to the URL inside
// the cluster.
func PublicURL(instance *v1alpha1.Instance) string {
	return cmp.Or(string(instance.Spec.URL), ClusterURL(instance))
}

// DNSNames returns the names in the Instance's certificate: its Service names in a cluster
// with the given domain, followed by the extra names of the spec. They do not include the
// short names <instance> and <instance>.<namespace>, which may also be names of external
// hosts: an Instance google in a namespace com could impersonate google.com.
func DNSNames(instance *v1alpha1.Instance, clusterDomain string) []string {
	names := ServiceDNSNames(instance, clusterDomain)
	for _, extra := range slices.Sorted(slices.Values(ExtraDNSNames(instance))) {
		if !slices.Contains(names, extra) {
			names = append(names, extra)
		}
	}
	return names
}

// ServiceDNSNames returns the names of the Instance's Service in a cluster with the given
// domain. The first name is the host of ClusterURL.
func ServiceDNSNames(instance *v1alpha1.Instance, clusterDomain string) []string {
	name := fmt.Sprintf("%s.%s.%s", ServerName(instance), instance.Namespace, serviceDNSDomain)
	return []string{name, name + "." + clusterDomain}
}

// serviceDNSDomain is the DNS domain of all Services. Pods can resolve names in it without
// the cluster domain.
const serviceDNSDomain = "svc"

// ServiceDNSDomains returns the DNS domains that contain the names of all Services.
func ServiceDNSDomains(clusterDomain string) []string {
	return []string{serviceDNSDomain, clusterDomain}
}

// ExtraDNSNames returns the spec's DNS names in addition to the Service's names.
func ExtraDNSNames(instance *v1alpha1.Instance) []string {
	if instance.Spec.TLS == nil {
		return nil
	}
	return instance.Spec.TLS.ExtraNames
}
