// Package demand tells the rest of Koldun for which sessions a gateway has requests, and
// shares the slots of isolated pools among gateways.
package demand
