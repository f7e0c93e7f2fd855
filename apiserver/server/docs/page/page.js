// SPDX-License-Identifier: Apache-2.0

// The viewer, on the contracts that this server has.
SwaggerUIBundle({
  dom_id: "#reference",
  urls: [
    { name: "Engine API, /v3", url: "openapi/engine-v3.yaml" },
    { name: "Guidance platform, /api", url: "openapi/guidance.yaml" },
  ],
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
  // The viewer's own logo has a style inside, which the page's policy forbids.
  plugins: [({ React }) => ({
    components: { Logo: () => React.createElement("span", { className: "product" }, "Anamnesis") },
  })],
  layout: "StandaloneLayout",
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
});
