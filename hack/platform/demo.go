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

// The sample Instance in config/samples.
const (
	SampleManifest  = "config/samples/demo.yaml"
	SampleNamespace = "anamnesis-demo"
	SampleInstance  = "demo"
	sampleHost      = SampleInstance + "." + SampleNamespace + ".svc"
)

// SampleListenAddress is the default loopback address of the relay to the sample
// Instance.
const SampleListenAddress = "127.0.0.1:8443"

// sampleInterview is a woman of 34 with a headache.
const sampleInterview = `{"sex":"female","age":{"value":34},"evidence":[{"id":"s_21","choice_id":"present","source":"initial"}]}`

// RunDemo deploys the platform and the sample Instance, relays it to a loopback
// address, requests a diagnosis, creates a survey, and prints the next steps for the
// user.
func RunDemo(ctx context.Context, p Platform, listen string) error {
	if err := p.Up(ctx); err != nil {
		return fmt.Errorf("starting the cluster: %w", err)
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
		{"wait until the Instance is ready", func() error { return p.WaitReady(ctx, SampleNamespace, SampleInstance, images.Server) }},
		{"forward the API to " + listen, func() error { return p.relaySample(ctx, listen) }},
		{"fetch the CA certificate", func() (err error) { authority, err = p.fetchCA(ctx); return err }},
		{"read the credentials", func() (err error) { sample, err = p.newSampleClient(ctx, listen, authority); return err }},
		{"run a sample diagnosis", func() (err error) { answer, err = diagnose(ctx, sample); return err }},
		{"create a survey", func() (err error) { link, err = createMagicLink(ctx, sample, listen); return err }},
	} {
		if err := p.RunStep(step.name, step.do); err != nil {
			return err
		}
	}
	p.printInstructions(answer, listen, link)
	return nil
}

func (p Platform) printInstructions(answer enginev3.Diagnosis, listen, link string) {
	_, port, _ := net.SplitHostPort(listen)
	leading := answer.Conditions[0]
	fmt.Fprintf(p.Progress, instructionsFormat, leading.CommonName, leading.Probability, answer.Question.Text,
		sampleHost, listen, caFile, SampleNamespace, SampleInstance, sampleInterview, port, link)
}

func (p Platform) applySample(ctx context.Context) error {
	_, err := p.Kubectl(ctx, "apply", "--filename", SampleManifest)
	return err
}

func (p Platform) relaySample(ctx context.Context, listen string) error {
	if _, err := p.Relay(ctx, listen, SampleNamespace, SampleInstance, 443); err != nil {
		return fmt.Errorf("%w\nuse another address: make run LISTEN=127.0.0.1:9443", err)
	}
	return nil
}

// caFile is the Instance's CA certificate for curl.
const caFile = "bin/" + SampleInstance + "-ca.crt"

// fetchCA reads the Instance's CA certificate and writes it to caFile.
func (p Platform) fetchCA(ctx context.Context) (string, error) {
	authority, err := p.SecretValue(ctx, SampleNamespace, SampleInstance+"-serving-tls", "ca.crt")
	if err != nil {
		return "", err
	}
	return authority, os.WriteFile(filepath.Join(p.Root, caFile), []byte(authority), 0o600)
}

const instructionsFormat = `
Diagnosis: %[1]s (%.2[2]f). Next question: %[3]s

  address         https://%[4]s:%[10]s, forwarded from %[5]s
  CA certificate  %[6]s
  credentials     Secret %[8]s-app-default in namespace %[7]s
  kubectl         bin/cluster kubectl

Send the request yourself:

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
