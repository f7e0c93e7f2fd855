// SPDX-License-Identifier: Apache-2.0

package platform

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// The sample Instance of config/samples, and where `make run` relays it to.
const (
	SampleManifest  = "config/samples/demo.yaml"
	SampleNamespace = "anamnesis-demo"
	SampleInstance  = "demo"
	sampleHost      = SampleInstance + "." + SampleNamespace + ".svc"
	sampleListen    = "127.0.0.1:8443"
)

// sampleQuestion is an adult with a headache and a stiff neck.
const sampleQuestion = `{"sex":"female","age":{"value":34},"evidence":[{"id":%q,"choice_id":"present","source":"initial"}]}`

// Demonstrate brings up everything, applies the sample Instance, and prints
// how to ask it.
func Demonstrate(ctx context.Context, p Platform) error {
	if err := p.Up(ctx); err != nil {
		return fmt.Errorf("start the cluster: %w", err)
	}
	var images Images
	steps := []struct {
		name string
		do   func() error
	}{
		{"build and load the images", func() (err error) { images, err = p.BuildImages(ctx); return err }},
		{"install the operator", func() error { return p.Install(ctx, images) }},
		{"apply the sample Instance", func() error { return p.applySample(ctx) }},
		{"wait until it is ready", func() error { return p.WaitReady(ctx, SampleNamespace, SampleInstance, images.Server) }},
		{"relay it to " + sampleListen, func() error { return p.relaySample(ctx) }},
	}
	for _, step := range steps {
		if err := p.Step(step.name, step.do); err != nil {
			return err
		}
	}
	return p.printSession(ctx)
}

func (p Platform) applySample(ctx context.Context) error {
	_, err := p.Kubectl(ctx, "apply", "--filename", SampleManifest)
	return err
}

func (p Platform) relaySample(ctx context.Context) error {
	_, err := p.Relay(ctx, sampleListen, SampleNamespace, SampleInstance, 443)
	return err
}

// printSession writes the certificate authority where curl can read it, and
// prints a session that works as printed.
func (p Platform) printSession(ctx context.Context) error {
	authority, err := p.SecretKey(ctx, SampleNamespace, SampleInstance+"-tls", "ca.crt")
	if err != nil {
		return fmt.Errorf("read the Instance's certificate authority: %w", err)
	}
	path := filepath.Join("bin", SampleInstance+"-ca.crt")
	if err := os.WriteFile(filepath.Join(p.Root, path), []byte(authority), 0o600); err != nil {
		return fmt.Errorf("write the Instance's certificate authority: %w", err)
	}
	fmt.Fprintf(p.Progress, sessionText, sampleHost, sampleListen, path, SampleNamespace, SampleInstance, fmt.Sprintf(sampleQuestion, "s_33"))
	return nil
}

const sessionText = `
The Instance %[5]s is ready.

  address      https://%[1]s:8443, relayed to %[2]s
  authority    %[3]s
  credentials  Secret %[5]s-app-default in namespace %[4]s
  kubectl      bin/cluster kubectl

Ask it:

  curl --cacert %[3]s --resolve %[1]s:8443:127.0.0.1 \
    -H 'Content-Type: application/json' -H 'App-Id: default' \
    -H "App-Key: $(bin/cluster kubectl get secret %[5]s-app-default -n %[4]s -o go-template='{{base64decode .data.key}}')" \
    -d '%[6]s' \
    https://%[1]s:8443/v3/diagnosis

'make stop' removes all of it.
`
