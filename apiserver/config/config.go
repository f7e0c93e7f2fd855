// SPDX-License-Identifier: Apache-2.0

// Package config parses the settings of an instance that may change while it runs, from
// the YAML file of --config. Flags, secrets and the effects of settings belong elsewhere.
package config

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/quota"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
)

// Config is the content of the file.
type Config struct {
	// CORS defines which web pages may call the instance from a browser.
	CORS CORS
	// Plans define the rate limits of applications.
	Plans quota.Plans
	// Proxies are the reverse proxies whose forwarding headers are trusted.
	Proxies Proxies
	// URL is the public URL of the instance without a trailing slash; empty if unknown.
	URL string
	// Features are the features that the tenant enabled or disabled.
	Features section.Features
	// Webhooks configures how webhook receivers are reached.
	Webhooks Webhooks
	// Retention configures how long data is kept.
	Retention Retention
	// Page configures the appearance of the patients' pages.
	Page Page
	// Instance identifies the instance in its cluster.
	Instance Instance
}

// Instance identifies the Kubernetes resource that the instance is created from. It is
// empty outside a cluster.
type Instance struct {
	UID string `yaml:"uid"`
	// AdoptUIDs are the UIDs of former Instances whose data this one takes over.
	AdoptUIDs []string `yaml:"adopts"`
}

// Parse parses the file, which may be empty. Missing keys get their defaults. Unknown keys
// are not an error, because the file may have been written for a newer version: the
// warning names them, or is empty.
func Parse(content []byte) (config Config, warning string, err error) {
	var file struct {
		CORS struct {
			AllowedOrigins []string `yaml:"allowedOrigins"`
		} `yaml:"cors"`
		Plans     map[string]quota.Limits `yaml:"plans"`
		Proxies   []string                `yaml:"proxies"`
		URL       string                  `yaml:"url"`
		Features  featuresYAML            `yaml:"features"`
		Webhooks  Webhooks                `yaml:"webhooks"`
		Retention retentionYAML           `yaml:"retention"`
		Page      pageYAML                `yaml:"page"`
		Instance  Instance                `yaml:"instance"`
	}
	if err := yaml.Unmarshal(content, &file); err != nil {
		return Config{}, "", fmt.Errorf("invalid configuration: %s", yaml.FormatError(err, false, false))
	}
	strict := file
	if err := yaml.UnmarshalWithOptions(content, &strict, yaml.Strict()); err != nil {
		warning = "unknown configuration key: " + yaml.FormatError(err, false, false)
	}
	config.CORS, err = NewCORS(file.CORS.AllowedOrigins)
	if err != nil {
		return Config{}, warning, fmt.Errorf("cors.allowedOrigins: %w", err)
	}
	config.Plans, err = quota.NewPlans(file.Plans)
	if err != nil {
		return Config{}, warning, fmt.Errorf("plans: %w", err)
	}
	config.Proxies, err = ParseProxies(file.Proxies)
	if err != nil {
		return Config{}, warning, fmt.Errorf("proxies: %w", err)
	}
	config.URL, err = ParseURL(file.URL)
	if err != nil {
		return Config{}, warning, fmt.Errorf("url: %w", err)
	}
	if err := file.Webhooks.validate(); err != nil {
		return Config{}, warning, fmt.Errorf("webhooks: %w", err)
	}
	config.Retention, err = file.Retention.parse()
	if err != nil {
		return Config{}, warning, fmt.Errorf("retention: %w", err)
	}
	config.Page, err = file.Page.parse()
	if err != nil {
		return Config{}, warning, fmt.Errorf("page: %w", err)
	}
	config.Features, config.Webhooks, config.Instance = file.Features.toSectionFeatures(), file.Webhooks, file.Instance
	return config, warning, nil
}

// ParseURL parses the public URL of an instance and removes a trailing slash. Empty text
// yields no URL.
func ParseURL(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	address, err := url.Parse(text)
	if err != nil || address.Scheme != "https" && address.Scheme != "http" || !isValidHost(address.Hostname()) ||
		address.User != nil || address.RawQuery != "" || address.ForceQuery || address.Fragment != "" {
		return "", fmt.Errorf("%q is not an instance URL; write it as https://acme.example", text)
	}
	return strings.TrimRight(text, "/"), nil
}

// CORS is a set of allowed web origins. The zero value allows none.
type CORS struct {
	allowAll bool
	origins  map[string]bool
}

// NewCORS returns a set of origins, each scheme://host or scheme://host:port, or
// "*" for every origin.
func NewCORS(origins []string) (CORS, error) {
	set := CORS{origins: map[string]bool{}}
	for i, text := range origins {
		if text == "*" {
			set.allowAll = true
			continue
		}
		origin, err := normalizeOrigin(text)
		if err != nil {
			return CORS{}, fmt.Errorf("[%d]: %w", i, err)
		}
		set.origins[origin] = true
	}
	return set, nil
}

// Allows reports whether pages of an origin, as given in the Origin header, may call the
// instance.
func (c CORS) Allows(origin string) bool {
	if c.allowAll {
		return true
	}
	normal, err := normalizeOrigin(origin)
	return err == nil && c.origins[normal]
}

// IsLoopbackOrigin reports whether an origin is served from the same machine on localhost
// or 127.0.0.1, on any port.
func IsLoopbackOrigin(origin string) bool {
	normal, err := normalizeOrigin(origin)
	if err != nil {
		return false
	}
	_, hostport, _ := strings.Cut(normal, "://")
	host, _, _ := strings.Cut(hostport, ":")
	return host == "localhost" || host == "127.0.0.1"
}

// normalizeOrigin returns an origin as browsers write it: in lower case and without the
// scheme's default port.
func normalizeOrigin(text string) (string, error) {
	origin, err := url.Parse(text)
	wrong := err != nil || origin.Scheme != "http" && origin.Scheme != "https" || !isValidHost(origin.Hostname()) ||
		origin.User != nil || origin.RawQuery != "" || origin.ForceQuery || origin.Fragment != "" ||
		origin.Path != "" && origin.Path != "/"
	if wrong {
		return "", fmt.Errorf("%q is not an origin; write it as https://portal.example or https://portal.example:8443, or * for all", text)
	}
	normal := strings.ToLower(origin.Scheme + "://" + origin.Host)
	ownPort := map[string]string{"http": ":80", "https": ":443"}[origin.Scheme]
	return strings.TrimSuffix(normal, ownPort), nil
}

func isValidHost(host string) bool {
	if strings.Contains(host, ":") {
		_, err := netip.ParseAddr(host)
		return err == nil
	}
	return host != "" && !strings.Contains(host, "*")
}
