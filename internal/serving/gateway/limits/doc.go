// Package limits counts what tenants use at all gateways of a namespace, and admits
// requests within their limits.
package limits
