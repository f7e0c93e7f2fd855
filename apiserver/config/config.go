// SPDX-License-Identifier: Apache-2.0

// Package config reads the settings of an instance that may change while it
// runs, from the YAML file of --config. Flags, secrets and what the settings
// lead to live elsewhere.
package config

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/quota"
)

// Config is the content of the file.
type Config struct {
	// CORS says which web pages may call the instance from a browser.
	CORS CORS
	// Plans limit what applications may call.
	Plans quota.Plans
	// Proxies are those whose word is taken for who calls.
	Proxies Proxies
	// URL is the public address of the instance, without a slash at its end; empty
	// where it is not said.
	URL string
	// Features are what the tenant turned on and off.
	Features section.Features
	// Webhooks say how events reach their receivers.
	Webhooks Webhooks
	// Retention says how long things are kept.
	Retention Retention
	// Page is how the pages that patients see look.
	Page Page
	// Instance says who the instance is to its cluster.
	Instance Instance
}

// Instance is the resource of a cluster that the instance is made from. It is empty
// where there is none.
type Instance struct {
	UID string `yaml:"uid"`
	// Adopts are the UIDs of former ones whose data this one takes over.
	Adopts []string `yaml:"adopts"`
}

// Parse reads the file, which may be empty. What it leaves out has its default.
// A key that this version does not know is not an error, because the file may
// have been written for a newer one: the warning names it, and is empty when
// there is none.
func Parse(content []byte) (config Config, warning string, err error) {
	var file struct {
		CORS struct {
			AllowedOrigins []string `yaml:"allowedOrigins"`
		} `yaml:"cors"`
		Plans     map[string]quota.Limits `yaml:"plans"`
		Proxies   []string                `yaml:"proxies"`
		URL       string                  `yaml:"url"`
		Features  features                `yaml:"features"`
		Webhooks  Webhooks                `yaml:"webhooks"`
		Retention retention               `yaml:"retention"`
		Page      page                    `yaml:"page"`
		Instance  Instance                `yaml:"instance"`
	}
	if err := yaml.Unmarshal(content, &file); err != nil {
		return Config{}, "", fmt.Errorf("the configuration is not YAML of the expected form: %s", yaml.FormatError(err, false, false))
	}
	strict := file
	if err := yaml.UnmarshalWithOptions(content, &strict, yaml.Strict()); err != nil {
		warning = "the configuration has a key that is not known: " + yaml.FormatError(err, false, false)
	}
	config.CORS, err = NewCORS(file.CORS.AllowedOrigins)
	if err != nil {
		return Config{}, warning, fmt.Errorf("cors.allowedOrigins: %w", err)
	}
	config.Plans, err = quota.NewPlans(file.Plans)
	if err != nil {
		return Config{}, warning, fmt.Errorf("plans: %w", err)
	}
	config.Proxies, err = NewProxies(file.Proxies)
	if err != nil {
		return Config{}, warning, fmt.Errorf("proxies: %w", err)
	}
	config.URL, err = NewURL(file.URL)
	if err != nil {
		return Config{}, warning, fmt.Errorf("url: %w", err)
	}
	if err := file.Webhooks.check(); err != nil {
		return Config{}, warning, fmt.Errorf("webhooks: %w", err)
	}
	config.Retention, err = file.Retention.read()
	if err != nil {
		return Config{}, warning, fmt.Errorf("retention: %w", err)
	}
	config.Page, err = file.Page.read()
	if err != nil {
		return Config{}, warning, fmt.Errorf("page: %w", err)
	}
	config.Features, config.Webhooks, config.Instance = file.Features.section(), file.Webhooks, file.Instance
	return config, warning, nil
}

// NewURL reads the public address of an instance, without a slash at its end. Empty
// is none.
func NewURL(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	address, err := url.Parse(text)
	if err != nil || address.Scheme != "https" && address.Scheme != "http" || !validHost(address.Hostname()) ||
		address.User != nil || address.RawQuery != "" || address.ForceQuery || address.Fragment != "" {
		return "", fmt.Errorf("%q is not the address of an instance; write it as https://acme.example", text)
	}
	return strings.TrimRight(text, "/"), nil
}

// CORS is a set of web origins. The zero value has none.
type CORS struct {
	every   bool
	origins map[string]bool
}

// NewCORS makes a set of origins, each scheme://host or scheme://host:port, or
// "*" for every origin.
func NewCORS(origins []string) (CORS, error) {
	set := CORS{origins: map[string]bool{}}
	for i, text := range origins {
		if text == "*" {
			set.every = true
			continue
		}
		origin, err := normalOrigin(text)
		if err != nil {
			return CORS{}, fmt.Errorf("[%d]: %w", i, err)
		}
		set.origins[origin] = true
	}
	return set, nil
}

// Allows reports whether pages of an origin, as a browser names it in the
// header Origin, may call the instance.
func (c CORS) Allows(origin string) bool {
	if c.every {
		return true
	}
	normal, err := normalOrigin(origin)
	return err == nil && c.origins[normal]
}

// AllowsLoopback reports whether an origin is a page that the same machine
// serves on localhost or 127.0.0.1, with any port.
func AllowsLoopback(origin string) bool {
	normal, err := normalOrigin(origin)
	if err != nil {
		return false
	}
	_, hostport, _ := strings.Cut(normal, "://")
	host, _, _ := strings.Cut(hostport, ":")
	return host == "localhost" || host == "127.0.0.1"
}

// normalOrigin writes an origin as browsers do: small letters, no port where it
// is the scheme's own.
func normalOrigin(text string) (string, error) {
	origin, err := url.Parse(text)
	wrong := err != nil || origin.Scheme != "http" && origin.Scheme != "https" || !validHost(origin.Hostname()) ||
		origin.User != nil || origin.RawQuery != "" || origin.ForceQuery || origin.Fragment != "" ||
		origin.Path != "" && origin.Path != "/"
	if wrong {
		return "", fmt.Errorf("%q is not an origin; write it as https://portal.example or https://portal.example:8443, or * for all", text)
	}
	normal := strings.ToLower(origin.Scheme + "://" + origin.Host)
	ownPort := map[string]string{"http": ":80", "https": ":443"}[origin.Scheme]
	return strings.TrimSuffix(normal, ownPort), nil
}

func validHost(host string) bool {
	if strings.Contains(host, ":") {
		_, err := netip.ParseAddr(host)
		return err == nil
	}
	return host != "" && !strings.Contains(host, "*")
}
