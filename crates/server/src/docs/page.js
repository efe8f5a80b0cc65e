// Shows /openapi.json: operations by noun, with their fields and a line for curl. Text is only ever set as text.
"use strict";

const make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
};

/** A sentence with what stands in backticks as code. */
const prose = (text) => text.split("`").map((part, place) => (place % 2 ? make("code", {}, part) : part));

let api;
const nameOf = (schema) => schema.$ref && schema.$ref.split("/").pop();
const meant = (schema) => (schema.$ref ? api.components.schemas[nameOf(schema)] : schema);
const present = (schema) => (schema.anyOf || []).find((one) => one.type !== "null") || schema;

/** What kind of value a schema says, in a few words. */
function kind(schema) {
  if (schema.$ref) return nameOf(schema);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.anyOf || schema.oneOf) return (schema.anyOf || schema.oneOf).filter((one) => one.type !== "null").map(kind).join(" | ");
  if (schema.type === "array") return "list of " + kind(schema.items || {});
  if (schema.type === "object" && schema.additionalProperties) return "map of " + kind(schema.additionalProperties);
  const type = [schema.type || "any JSON"].flat().filter((one) => one !== "null").join(" | ");
  return type + (schema.format ? ` (${schema.format})` : "");
}

/** The limits a schema sets. */
function limits(schema) {
  const said = [];
  if (schema.default !== undefined) said.push("default " + JSON.stringify(schema.default));
  if (schema.minimum) said.push("at least " + schema.minimum);
  if (schema.maximum) said.push("at most " + schema.maximum);
  if (schema.maxLength) said.push("up to " + schema.maxLength + " characters");
  if (schema.pattern) said.push(schema.pattern);
  return said.join(", ");
}

/** The types that can be opened below a field: those with fields, or words, of their own. */
function within(schema) {
  const all = [schema, schema.items, schema.additionalProperties, ...(schema.anyOf || []), ...(schema.oneOf || [])];
  const named = all.filter((one) => one && one.$ref && one.$ref !== schema.within);
  return named.filter((one) => ["properties", "oneOf", "enum", "items"].some((key) => meant(one)[key]));
}

/** A type that is written out when somebody opens it, because types can hold themselves. */
function opened(schema) {
  const element = make("details", {}, make("summary", {}, nameOf(schema)));
  element.addEventListener("toggle", () => element.childElementCount > 1 || element.append(shown(meant(schema))), { once: true });
  return element;
}

function shown(schema) {
  const element = make("div");
  if (schema.properties) element.append(fields(Object.entries(schema.properties), schema.required));
  for (const one of schema.oneOf || schema.anyOf || []) {
    if (!one.properties && !one.$ref && one.const === undefined && !one.type) continue;
    element.append(make("p", { class: "faint" }, kind(one), ...prose(one.description ? ": " + one.description : "")));
    if (one.properties) element.append(fields(Object.entries(one.properties), one.required));
  }
  if (schema.enum) element.append(make("p", {}, make("code", {}, kind(schema))));
  if (schema.items) element.append(make("p", { class: "faint" }, kind(schema)));
  element.append(...within(schema).map(opened));
  return element;
}

function fields(entries, required = []) {
  const rows = entries.map(([name, field]) => {
    const schema = present(field);
    const said = make("td", {}, make("span", { class: "kind" }, kind(field)), make("br"), ...prose(field.description || ""));
    const further = limits({ ...meant(schema), ...field });
    if (further) said.append(make("br"), make("span", { class: "faint" }, further));
    said.append(...within(schema).map(opened));
    const title = make("td", {}, make("code", {}, name));
    if (required.includes(name)) title.append(make("span", { class: "faint" }, " required"));
    return make("tr", {}, title, said);
  });
  return make("table", {}, ...rows);
}

/** A value that a schema would take, for an example. */
function example(schema) {
  const { type, enum: words, const: word, oneOf, properties, required = [] } = meant(present(schema));
  if (word !== undefined) return word;
  if (words) return words[0];
  if (properties) return Object.fromEntries(required.map((name) => [name, example(properties[name])]));
  if (oneOf) return example(oneOf[0]);
  return { integer: 0, number: 0, boolean: false, array: [], object: {} }[[type].flat()[0]] ?? "…";
}

function curl(method, path, operation) {
  const url = location.origin + path.replace(/{(\w+)}/g, "$$$1");
  const body = operation.requestBody?.content;
  const json = body?.["application/json"] && JSON.stringify(example(body["application/json"].schema));
  const parts = ["curl", method === "get" ? "" : "-X " + method.toUpperCase(), '-H "Authorization: Bearer $FF_KEY"'];
  if (json) parts.push("-H 'Content-Type: application/json' -d '" + json + "'");
  else if (body) parts.push("--data-binary @file");
  return parts.filter(Boolean).join(" ") + ` "${url}"`;
}

function section(path, method, operation) {
  const element = make("section", { id: operation.operationId });
  element.append(make("h3", {}, make("a", { href: "#" + operation.operationId }, operation.operationId)));
  element.append(make("p", {}, make("code", {}, make("span", { class: "method" }, method.toUpperCase()), " ", path)));
  for (const paragraph of operation.description.split("\n\n")) element.append(make("p", {}, ...prose(paragraph)));
  const asked = operation.parameters || [];
  if (asked.length) {
    const entries = asked.map((one) => [one.name, { ...one.schema, description: `${one.description || ""} (${one.in})` }]);
    element.append(fields(entries, asked.filter((one) => one.required).map((one) => one.name)));
  }
  const body = Object.entries(operation.requestBody?.content || {});
  for (const [type, { schema }] of body) element.append(make("h4", {}, "Body: " + type), shown(meant(schema)));
  element.append(make("h4", {}, "Answers"));
  for (const [status, answer] of Object.entries(operation.responses)) {
    if (status === "default") continue;
    const contents = Object.entries(answer.content || { "": {} });
    for (const [type, { schema }] of contents) {
      element.append(make("p", {}, make("b", {}, status), ...prose(` ${answer.description} `), make("span", { class: "kind" }, type)));
      if (schema) element.append(schema.$ref ? opened(schema) : shown(schema));
    }
  }
  const line = curl(method, path, operation);
  const copy = make("button", { type: "button" }, "Copy");
  copy.addEventListener("click", () => navigator.clipboard.writeText(line));
  element.append(make("pre", {}, line), copy);
  return element;
}

async function start() {
  const main = document.getElementById("operations");
  const answer = await fetch("/openapi.json");
  if (!answer.ok) throw new Error(`/openapi.json answers ${answer.status}`);
  api = await answer.json();
  main.replaceChildren(make("h1", {}, "The interface"), make("p", {}, ...prose(api.info.description)));
  const contents = document.getElementById("contents");
  const all = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })));
  for (const { name } of api.tags) {
    contents.append(make("h2", {}, name));
    main.append(make("h2", {}, name));
    for (const { path, method, operation } of all.filter((one) => one.operation.tags.includes(name))) {
      contents.append(make("a", { href: "#" + operation.operationId, "data-name": operation.operationId }, operation.operationId));
      main.append(section(path, method, operation));
    }
  }
  document.getElementById("find").addEventListener("input", ({ target }) => {
    for (const link of contents.querySelectorAll("a")) link.hidden = !link.dataset.name.includes(target.value.trim().toLowerCase());
  });
  if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
}

start().catch((error) => document.getElementById("operations").replaceChildren(make("p", {}, String(error))));
