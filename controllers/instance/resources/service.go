// SPDX-License-Identifier: Apache-2.0

package resources

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
)

// ServicePort is the port of the Instance's Service.
const ServicePort = 443

// BuildService returns the Service in front of the pods of an Instance. It does not expose
// the admin port, which is scraped per pod.
func BuildService(in Input) *coreapply.ServiceApplyConfiguration {
	return coreapply.Service(ServerName(in.Instance), in.Instance.Namespace).
		WithLabels(Labels(in.Instance)).
		WithSpec(coreapply.ServiceSpec().
			WithType(corev1.ServiceTypeClusterIP).
			WithSelector(Selector(in.Instance)).
			WithPorts(coreapply.ServicePort().
				WithName(tenantPortName).
				WithProtocol(corev1.ProtocolTCP).
				WithAppProtocol("https").
				WithPort(ServicePort).
				WithTargetPort(intstr.FromString(tenantPortName))))
}
