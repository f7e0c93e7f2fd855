// SPDX-License-Identifier: Apache-2.0

// The viewer, on the contracts that this server has. It fills in what a call
// needs beside its parameters: the application, where this server names one; an
// Interview-Id of this visit; an Interview-Token, once an application is known.

// How many lines of an answer are drawn. A list of a thousand concepts has
// twenty thousand, at which browsers stand still.
const MOST_LINES = 400;

// uuid is a new one. (crypto.randomUUID is for secure contexts only.)
function uuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

// parametersOf are the parameters that a contract has, by reference or in place.
function parametersOf(contract) {
  const operations = Object.values(contract.paths ?? {}).flatMap((path) => Object.values(path));
  return [...Object.values(contract.components?.parameters ?? {}), ...operations.flatMap((operation) => operation.parameters ?? [])];
}

// withExamples is a contract whose parameters have values of this visit.
function withExamples(contract, { instance }) {
  const examples = { "Interview-Id": uuid() };
  if (instance) {
    examples["Instance-Id"] = `${instance}-mgp`;
  }
  for (const parameter of parametersOf(contract).filter(({ name }) => name in examples)) {
    parameter.example = examples[parameter.name];
  }
  return contract;
}

// authorize gives the viewer the application, in the ways that the contract has.
async function authorize(viewer, contract, application) {
  const schemes = contract.components?.securitySchemes ?? {};
  if (schemes.applicationID) {
    viewer.preauthorizeApiKey("applicationID", application.id);
    viewer.preauthorizeApiKey("applicationKey", application.key);
    await fillToken(viewer);
  }
  if (schemes.application) {
    viewer.preauthorizeBasic("application", application.id, application.key);
  }
  if (schemes.accessToken) {
    viewer.preauthorizeApiKey("accessToken", await accessToken(application));
  }
}

// accessToken is a token for the guidance platform.
async function accessToken({ id, key, instance }) {
  const response = await fetch("api/auth/token", {
    method: "POST",
    headers: { "Authorization": `Basic ${btoa(`${id}:${key}`)}`, "Content-Type": "application/json", "Instance-Id": `${instance}-mgp` },
    body: JSON.stringify({ grant_type: "client_credentials" }),
  });
  return (await response.json()).access_token;
}

// interviewToken is a token as /diagnosis gives it, undefined when the
// application is not known.
async function interviewToken(id, key) {
  const response = await fetch("v3/diagnosis", {
    method: "POST",
    headers: { "App-Id": id, "App-Key": key, "Content-Type": "application/json", "Dev-Mode": "true" },
    body: JSON.stringify({ sex: "female", age: { value: 30 }, extras: { include_condition_details: true } }),
  });
  return response.ok ? (await response.json()).interview_token : undefined;
}

// fillToken fills in an Interview-Token when there is an application.
async function fillToken(viewer) {
  const authorized = viewer.authSelectors.authorized();
  const id = authorized.getIn(["applicationID", "value"]);
  const key = authorized.getIn(["applicationKey", "value"]);
  const token = id && key ? await interviewToken(id, key) : undefined;
  if (token) {
    viewer.specActions.changeParam(["/patient_education/{condition_id}", "get"], "Interview-Token", "header", token);
  }
}

// lines are those of an answer, indented where it is JSON.
function lines(content) {
  try {
    return JSON.stringify(JSON.parse(content), null, 2).split("\n");
  } catch {
    return content.split("\n");
  }
}

// partOf is the beginning of a long answer and an address of the whole, or null
// where the answer is short enough.
function partOf({ content, contentType }) {
  const all = typeof content === "string" ? lines(content) : [];
  return all.length <= MOST_LINES ? null : {
    content: all.slice(0, MOST_LINES).join("\n"),
    count: all.length.toLocaleString("en"),
    whole: URL.createObjectURL(new Blob([content], { type: contentType })),
  };
}

// drawPart draws the beginning of a long answer, and where the rest is.
function drawPart(ResponseBody, { React }) {
  const draw = React.createElement;
  return (properties) => {
    const part = React.useMemo(() => partOf(properties), [properties.content]);
    if (!part) {
      return draw(ResponseBody, properties);
    }
    return draw("div", null,
      draw("p", { className: "part" }, `These are the first ${MOST_LINES} of ${part.count} lines. `,
        draw("a", { href: part.whole, download: "answer.json" }, "Save all of them")),
      draw(ResponseBody, { ...properties, content: part.content, contentType: "text/plain" }));
  };
}

// house is the plugin of this page.
function house(application) {
  return ({ React }) => ({
    components: {
      // The viewer's own logo has a style inside, which the page's policy forbids.
      Logo: () => React.createElement("span", { className: "product" }, "Anamnesis"),
    },
    wrapComponents: { responseBody: drawPart },
    statePlugins: {
      spec: {
        wrapActions: {
          updateJsonSpec: (update, viewer) => (contract) => {
            update(withExamples(contract, application));
            if (application.id) {
              authorize(viewer.getSystem(), contract, application);
            }
          },
        },
      },
      auth: {
        wrapActions: {
          authorize: (accept, viewer) => (given) => {
            accept(given);
            fillToken(viewer.getSystem());
          },
        },
      },
    },
  });
}

// sayApplication says who calls.
function sayApplication({ id, key }) {
  const line = document.getElementById("application");
  line.textContent = id
    ? `This server is for development. What you try out here is called by the application “${id}” with the key “${key}”.`
    : "To try out a call, press Authorize and give the id and the key of an application.";
}

async function start() {
  const application = await (await fetch("docs/application.json")).json();
  sayApplication(application);
  SwaggerUIBundle({
    dom_id: "#reference",
    urls: [
      { name: "Engine API, /v3", url: "openapi/engine-v3.yaml" },
      { name: "Guidance platform, /api", url: "openapi/guidance.yaml" },
    ],
    presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
    plugins: [house(application)],
    layout: "StandaloneLayout",
    deepLinking: true,
    defaultModelsExpandDepth: 0,
    validatorUrl: null,
  });
}

start();
