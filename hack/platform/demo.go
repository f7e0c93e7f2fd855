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

// sampleInterview is a request for a 34-year-old woman with a headache.
const sampleInterview = `{"sex":"female","age":{"value":34},"evidence":[{"id":"s_21","choice_id":"present","source":"initial"}]}`

// RunDemo deploys the platform and the sample Instance, forwards a loopback address to
// the Instance, requests a diagnosis, creates a survey, and prints the next steps for
// the user.
func RunDemo(ctx context.Context, p Platform, listen string) error {
	if err := p.Up(ctx); err != nil {
		return fmt.Errorf("starting the cluster: %w", err)
	}
	var images Images
	var caCert, magicLink string
	var sample *client.Client
	var diagnosis enginev3.Diagnosis
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"build and load the images", func() (err error) { images, err = p.BuildImages(ctx); return err }},
		{"install the operator", func() error { return p.Install(ctx, images) }},
		{"apply the sample Instance", func() error { return p.applySample(ctx) }},
		{"wait until the Instance is ready", func() error { return p.WaitReady(ctx, SampleNamespace, SampleInstance, images.Server) }},
		{"forward the API to " + listen, func() error { return p.relaySample(ctx, listen) }},
		{"fetch the CA certificate", func() (err error) { caCert, err = p.fetchCA(ctx); return err }},
		{"read the credentials", func() (err error) { sample, err = p.newSampleClient(ctx, listen, caCert); return err }},
		{"run a sample diagnosis", func() (err error) { diagnosis, err = diagnose(ctx, sample); return err }},
		{"create a survey", func() (err error) { magicLink, err = createMagicLink(ctx, sample, listen); return err }},
	} {
		if err := p.RunStep(step.name, step.do); err != nil {
			return err
		}
	}
	p.printInstructions(diagnosis, listen, magicLink)
	return nil
}

func (p Platform) printInstructions(diagnosis enginev3.Diagnosis, listen, magicLink string) {
	_, port, _ := net.SplitHostPort(listen)
	top := diagnosis.Conditions[0]
	fmt.Fprintf(p.Progress, instructionsFormat, top.CommonName, top.Probability, diagnosis.Question.Text,
		sampleHost, listen, caFile, SampleNamespace, SampleInstance, sampleInterview, port, magicLink)
}

func (p Platform) applySample(ctx context.Context) error {
	_, err := p.Kubectl(ctx, "apply", "--filename", SampleManifest)
	return err
}

func (p Platform) relaySample(ctx context.Context, listen string) error {
	if _, err := p.Relay(ctx, listen, SampleNamespace, SampleInstance, 443); err != nil {
		return fmt.Errorf("%w\nto use another address, run: make run LISTEN=127.0.0.1:9443", err)
	}
	return nil
}

// caFile is the path of the Instance's CA certificate for curl.
const caFile = "bin/" + SampleInstance + "-ca.crt"

// fetchCA reads the Instance's CA certificate and writes it to caFile.
func (p Platform) fetchCA(ctx context.Context) (string, error) {
	caCert, err := p.SecretValue(ctx, SampleNamespace, SampleInstance+"-serving-tls", "ca.crt")
	if err != nil {
		return "", err
	}
	return caCert, os.WriteFile(filepath.Join(p.Root, caFile), []byte(caCert), 0o600)
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

Open a survey on the patient page. The browser shows a certificate warning, because it
does not trust the CA of the Instance:

  %[11]s

Run 'make stop' to remove everything.
`
