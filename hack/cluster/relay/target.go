// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Target is the target of a relay: a Service, a Pod or an address in the node's
// network.
type Target struct {
	// Kind is "svc" or "pod", or empty for an address.
	Kind, Namespace, Name string
	// Host is set only for an address.
	Host string
	// Port is a number, or the name of a port of the Service or Pod.
	Port string
}

// ParseTarget parses svc/NAMESPACE/NAME:PORT, pod/NAMESPACE/NAME:PORT or ADDRESS:PORT.
func ParseTarget(text string) (Target, error) {
	const want = "write svc/NAMESPACE/NAME:PORT, pod/NAMESPACE/NAME:PORT or ADDRESS:PORT"
	host, port, err := net.SplitHostPort(text)
	if err != nil || host == "" || port == "" {
		return Target{}, fmt.Errorf("invalid relay target %q: %s", text, want)
	}
	parts := strings.Split(host, "/")
	switch {
	case len(parts) == 3 && (parts[0] == "svc" || parts[0] == "pod") && parts[1] != "" && parts[2] != "":
		return Target{Kind: parts[0], Namespace: parts[1], Name: parts[2], Port: port}, nil
	case len(parts) == 1 && net.ParseIP(host) != nil && isPortNumber(port):
		return Target{Host: host, Port: port}, nil
	}
	return Target{}, fmt.Errorf("invalid relay target %q: %s", text, want)
}

func isPortNumber(port string) bool {
	_, err := strconv.ParseUint(port, 10, 16)
	return err == nil
}

// Resolve returns the address to dial. It looks up the target each time, because a
// recreated Service or Pod has a different address.
func (t Target) Resolve(ctx context.Context, client kubernetes.Interface) (string, error) {
	switch t.Kind {
	case "svc":
		service, err := client.CoreV1().Services(t.Namespace).Get(ctx, t.Name, metav1.GetOptions{})
		if err != nil {
			return "", fmt.Errorf("looking up the Service %s/%s: %w", t.Namespace, t.Name, err)
		}
		return t.serviceAddress(service)
	case "pod":
		pod, err := client.CoreV1().Pods(t.Namespace).Get(ctx, t.Name, metav1.GetOptions{})
		if err != nil {
			return "", fmt.Errorf("looking up the Pod %s/%s: %w", t.Namespace, t.Name, err)
		}
		return t.podAddress(pod)
	default:
		return net.JoinHostPort(t.Host, t.Port), nil
	}
}

func (t Target) serviceAddress(service *corev1.Service) (string, error) {
	address := service.Spec.ClusterIP
	if address == "" || address == corev1.ClusterIPNone {
		return "", fmt.Errorf("the Service %s/%s has no cluster IP", t.Namespace, t.Name)
	}
	for _, port := range service.Spec.Ports {
		number := strconv.Itoa(int(port.Port))
		if t.Port == number || t.Port == port.Name {
			return net.JoinHostPort(address, number), nil
		}
	}
	return "", fmt.Errorf("the Service %s/%s has no port %s", t.Namespace, t.Name, t.Port)
}

func (t Target) podAddress(pod *corev1.Pod) (string, error) {
	if pod.Status.PodIP == "" {
		return "", fmt.Errorf("the Pod %s/%s has no IP address yet", t.Namespace, t.Name)
	}
	if isPortNumber(t.Port) {
		return net.JoinHostPort(pod.Status.PodIP, t.Port), nil
	}
	for _, container := range pod.Spec.Containers {
		for _, port := range container.Ports {
			if port.Name == t.Port {
				return net.JoinHostPort(pod.Status.PodIP, strconv.Itoa(int(port.ContainerPort))), nil
			}
		}
	}
	return "", fmt.Errorf("the Pod %s/%s has no port named %s", t.Namespace, t.Name, t.Port)
}
