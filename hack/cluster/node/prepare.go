// SPDX-License-Identifier: Apache-2.0

package node

import (
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/anamnesis-dev/anamnesis/hack/cluster/build"
	"github.com/anamnesis-dev/anamnesis/hack/cluster/machine"
	"github.com/anamnesis-dev/anamnesis/hack/cluster/pki"
)

//go:embed config
var configFS embed.FS

// Prepare fills a new state directory with everything that the components read.
func (n Node) Prepare(binaries []build.Binary) error {
	if err := n.State.Create(); err != nil {
		return err
	}
	if err := n.createDirs(); err != nil {
		return err
	}
	if err := build.LinkBinaries(n.State.Path("bin"), binaries); err != nil {
		return err
	}
	if err := n.linkCNIPlugins(); err != nil {
		return err
	}
	return n.issueCertificates()
}

// createDirs creates the directories and configuration files of the components.
func (n Node) createDirs() error {
	for _, folder := range []string{"logs", "pki", "users", "etcd", "containerd", "kubelet", "pod-logs", "volumes", "cni"} {
		if err := os.Mkdir(n.State.Path(folder), 0o700); err != nil {
			return fmt.Errorf("preparing the state directory: %w", err)
		}
	}
	if err := os.CopyFS(n.State.Path(), configFS); err != nil {
		return fmt.Errorf("writing the components' configuration: %w", err)
	}
	return nil
}

// linkCNIPlugins links the fixed path in the configuration to the distribution's
// directory of network plugins.
func (n Node) linkCNIPlugins() error {
	for _, folder := range machine.CNIPluginDirs {
		if machine.Exists(filepath.Join(folder, "bridge")) {
			return os.Symlink(folder, n.State.Path("cni-plugins"))
		}
	}
	return errors.New("network plugins not found: install containernetworking-plugins")
}

// issueCertificates creates the keys and certificates of this cluster.
func (n Node) issueCertificates() error {
	authority, err := pki.NewCA(time.Now())
	if err != nil {
		return err
	}
	key, err := pki.NewKey()
	if err != nil {
		return err
	}
	files := map[string][]byte{"pki/ca.crt": authority.PEM, "pki/service-accounts.key": key}
	for name, subject := range certificateSubjects {
		pair, err := authority.Issue(subject)
		if err != nil {
			return err
		}
		files["pki/"+name+".crt"], files["pki/"+name+".key"] = pair.Certificate, pair.Key
	}
	for name, subject := range kubeconfigSubjects {
		pair, err := authority.Issue(subject)
		if err != nil {
			return err
		}
		if files["users/"+name], err = authority.Kubeconfig("https://"+APIServer, pair); err != nil {
			return err
		}
	}
	for name, content := range files {
		if err := os.WriteFile(n.State.Path(name), content, 0o600); err != nil {
			return fmt.Errorf("writing keys and certificates: %w", err)
		}
	}
	return nil
}

// certificateSubjects have their certificate and key in separate files.
var certificateSubjects = map[string]pki.Subject{
	"kube-apiserver": {User: "kube-apiserver", Hosts: []string{
		"127.0.0.1", Address, "10.96.0.1", "localhost",
		"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
	}},
	"kubelet":        {User: "system:node:" + Name, Groups: []string{"system:nodes"}, Hosts: []string{Address, Name}},
	"kubelet-client": {User: "kube-apiserver-kubelet-client", Groups: []string{"system:masters"}},
}

// kubeconfigSubjects have a kubeconfig. The API server's built-in roles are bound to
// their names.
var kubeconfigSubjects = map[string]pki.Subject{
	"admin":                   {User: "admin", Groups: []string{"system:masters"}},
	"kube-controller-manager": {User: "system:kube-controller-manager"},
	"kube-scheduler":          {User: "system:kube-scheduler"},
	"kubelet":                 {User: "system:node:" + Name, Groups: []string{"system:nodes"}},
	"kube-proxy":              {User: "system:kube-proxy"},
}

// WriteKubeconfig writes the administrator's kubeconfig for the machine, with the API
// server at address.
func (n Node) WriteKubeconfig(address string) error {
	inside, err := os.ReadFile(n.State.Path("users", "admin"))
	if err != nil {
		return fmt.Errorf("reading the administrator's kubeconfig: %w", err)
	}
	outside, err := pki.WithServer(inside, "https://"+address)
	if err != nil {
		return err
	}
	if err := os.WriteFile(n.State.Kubeconfig(), outside, 0o600); err != nil { //nolint:gosec // the state folder is the caller's own
		return fmt.Errorf("writing the kubeconfig: %w", err)
	}
	return nil
}
