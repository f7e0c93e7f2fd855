// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// MaxInstanceNameLength is how long an Instance's name may be, so that the name
// of its preflight Job, the longest that Kubernetes limits to 63 characters,
// fits with a hash of up to 12. A CEL rule of the Instance says the same.
const MaxInstanceNameLength = 40

// ServerName is the name of the Deployment and of all that stands around it
// under the same name: Service, ServiceAccount, NetworkPolicy and
// PodDisruptionBudget.
func ServerName(instance *v1alpha1.Instance) string { return instance.Name }

// DataName is the name of the claim for the volume of embedded storage.
func DataName(instance *v1alpha1.Instance) string { return instance.Name + "-data" }

// ConfigName is the name of the ConfigMap with the server's configuration.
func ConfigName(instance *v1alpha1.Instance) string { return instance.Name + "-config" }

// CredentialsName is the name of the Secret with the credentials of all
// applications, as the server reads them.
func CredentialsName(instance *v1alpha1.Instance) string { return instance.Name + "-credentials" }

// ApplicationSecretName is the name of the Secret with the id and key of one
// application, as people and clients read them.
func ApplicationSecretName(instance *v1alpha1.Instance, application string) string {
	return instance.Name + "-app-" + application
}

// SigningKeysName is the name of the Secret with the keys that sign tokens.
func SigningKeysName(instance *v1alpha1.Instance) string { return instance.Name + "-signing-keys" }

// KeysetsName is the name of the Secret with the keysets that data is encrypted
// by.
func KeysetsName(instance *v1alpha1.Instance) string { return instance.Name + "-keysets" }

// NotificationsName is the name of the Secret by which the server sends messages
// to people.
func NotificationsName(instance *v1alpha1.Instance) string { return instance.Name + "-notifications" }

// TLSName is the name of the Secret with the certificate that the server uses.
// whoever issued it. It is not <instance>-tls: people like to call the one that
// they bring so.
func TLSName(instance *v1alpha1.Instance) string { return instance.Name + "-serving-tls" }

// AuthorityName is the name of the Secret with the authority of the Instance's
// own that an Instance with extra names has. It is never that of the operator's.
func AuthorityName(instance *v1alpha1.Instance) string { return instance.Name + "-serving-authority" }

// TrustName is the name of the ConfigMap with the authority that clients trust.
func TrustName(instance *v1alpha1.Instance) string { return instance.Name + "-ca" }

// PreflightName is the name of the preflight Job with this hash.
func PreflightName(instance *v1alpha1.Instance, hash string) string {
	return instance.Name + "-preflight-" + hash
}

// URL is the address of the Instance inside the cluster.
func URL(instance *v1alpha1.Instance) string {
	return fmt.Sprintf("https://%s.%s.svc", ServerName(instance), instance.Namespace)
}

// PublicURL is where clients outside find the Instance: that of its spec, else
// its address inside the cluster.
func PublicURL(instance *v1alpha1.Instance) string {
	return cmp.Or(string(instance.Spec.URL), URL(instance))
}

// DNSNames are the names that the Instance's certificate is good for: those under
// which it is reached inside a cluster of this domain, and, after them, the extra
// ones of its spec. The bare names <instance> and <instance>.<namespace> are none
// of them, since they are also names of hosts elsewhere: an Instance google in a
// namespace com would prove itself to be google.com.
func DNSNames(instance *v1alpha1.Instance, clusterDomain string) []string {
	names := ServiceNames(instance, clusterDomain)
	for _, extra := range slices.Sorted(slices.Values(ExtraNames(instance))) {
		if !slices.Contains(names, extra) {
			names = append(names, extra)
		}
	}
	return names
}

// ServiceNames are the names of the Instance's Service inside a cluster of this
// domain, the one that its URL has first.
func ServiceNames(instance *v1alpha1.Instance, clusterDomain string) []string {
	name := fmt.Sprintf("%s.%s.%s", ServerName(instance), instance.Namespace, serviceDomain)
	return []string{name, name + "." + clusterDomain}
}

// serviceDomain is the domain of all Services, to which that of the cluster may
// be left out.
const serviceDomain = "svc"

// ServiceDomains are the DNS domains that hold the names of all Services.
func ServiceDomains(clusterDomain string) []string { return []string{serviceDomain, clusterDomain} }

// ExtraNames are the DNS names that the spec asks for besides those of the
// Service.
func ExtraNames(instance *v1alpha1.Instance) []string {
	if instance.Spec.TLS == nil {
		return nil
	}
	return instance.Spec.TLS.ExtraNames
}
