// Package migrate converts manifests of other systems into claims of Koldun: those
// of kold, of the first Koldun, hf-operator, Prem-Operator and Model Orchestra.
//
// Conversions are pure. Each system has one file with its kinds. What a kind does
// not rename, drop or compute keeps its place, if the CRD of the claim has a field
// there that has an effect. Everything else becomes a Note: nothing is dropped
// silently.
package migrate
