// Package hostile attacks what one tenant must not reach of another, and what a process
// must not do beyond its role. Each attack is a row of a table.
package hostile
