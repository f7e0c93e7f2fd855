// SPDX-License-Identifier: Apache-2.0

package platform

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/anamnesis-dev/anamnesis/client"
	"github.com/anamnesis-dev/anamnesis/client/enginev3"
)

// The sample Instance of config/samples.
const (
	SampleManifest  = "config/samples/demo.yaml"
	SampleNamespace = "anamnesis-demo"
	SampleInstance  = "demo"
	sampleHost      = SampleInstance + "." + SampleNamespace + ".svc"
)

// SampleListen is the loopback address that the sample Instance is relayed to,
// unless another is named.
const SampleListen = "127.0.0.1:8443"

// sampleQuestion is a woman of 34 with a headache.
const sampleQuestion = `{"sex":"female","age":{"value":34},"evidence":[{"id":"s_21","choice_id":"present","source":"initial"}]}`

// Demonstrate brings up everything, applies the sample Instance, relays it to a
// loopback address, asks it for a diagnosis, makes a survey, and prints how to go on.
func Demonstrate(ctx context.Context, p Platform, listen string) error {
	if err := p.Up(ctx); err != nil {
		return fmt.Errorf("start the cluster: %w", err)
	}
	var images Images
	var authority, link string
	var sample *client.Client
	var answer enginev3.Diagnosis
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"build and load the images", func() (err error) { images, err = p.BuildImages(ctx); return err }},
		{"install the operator", func() error { return p.Install(ctx, images) }},
		{"apply the sample Instance", func() error { return p.applySample(ctx) }},
		{"wait until it is ready", func() error { return p.WaitReady(ctx, SampleNamespace, SampleInstance, images.Server) }},
		{"relay it to " + listen, func() error { return p.relaySample(ctx, listen) }},
		{"fetch its certificate authority", func() (err error) { authority, err = p.fetchAuthority(ctx); return err }},
		{"read its credentials", func() (err error) { sample, err = p.sampleClient(ctx, listen, authority); return err }},
		{"ask it about a headache", func() (err error) { answer, err = diagnose(ctx, sample); return err }},
		{"make a survey", func() (err error) { link, err = makeLink(ctx, sample, listen); return err }},
	} {
		if err := p.Step(step.name, step.do); err != nil {
			return err
		}
	}
	p.printSession(answer, listen, link)
	return nil
}

func (p Platform) printSession(answer enginev3.Diagnosis, listen, link string) {
	_, port, _ := net.SplitHostPort(listen)
	leading := answer.Conditions[0]
	fmt.Fprintf(p.Progress, sessionText, leading.CommonName, leading.Probability, answer.Question.Text,
		sampleHost, listen, authorityPath, SampleNamespace, SampleInstance, sampleQuestion, port, link)
}

func (p Platform) applySample(ctx context.Context) error {
	_, err := p.Kubectl(ctx, "apply", "--filename", SampleManifest)
	return err
}

func (p Platform) relaySample(ctx context.Context, listen string) error {
	if _, err := p.Relay(ctx, listen, SampleNamespace, SampleInstance, 443); err != nil {
		return fmt.Errorf("%w\nname another address: make run LISTEN=127.0.0.1:9443", err)
	}
	return nil
}

// authorityPath is where curl finds the Instance's authority.
const authorityPath = "bin/" + SampleInstance + "-ca.crt"

// fetchAuthority reads the Instance's certificate authority, and writes it
// where curl finds it.
func (p Platform) fetchAuthority(ctx context.Context) (string, error) {
	authority, err := p.SecretKey(ctx, SampleNamespace, SampleInstance+"-serving-tls", "ca.crt")
	if err != nil {
		return "", err
	}
	return authority, os.WriteFile(filepath.Join(p.Root, authorityPath), []byte(authority), 0o600)
}

const sessionText = `
It answers: perhaps %[1]s (%.2[2]f). It asks: %[3]s

  address      https://%[4]s:%[10]s, relayed to %[5]s
  authority    %[6]s
  credentials  Secret %[8]s-app-default in namespace %[7]s
  kubectl      bin/cluster kubectl

Ask it yourself:

  curl --cacert %[6]s --resolve %[4]s:%[10]s:127.0.0.1 \
    -H 'Content-Type: application/json' -H 'App-Id: default' \
    -H "App-Key: $(bin/cluster kubectl get secret %[8]s-app-default -n %[7]s -o go-template='{{base64decode .data.key}}')" \
    -d '%[9]s' \
    https://%[4]s:%[10]s/v3/diagnosis

See what patients see, in a survey of your own; the browser knows the authority of
the Instance no better than any other, and asks first:

  %[11]s

'make stop' removes all of it.
`
