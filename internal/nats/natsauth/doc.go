// Package natsauth makes the accounts and users of a NATS server in operator mode:
// a namespace is an account, and each process of Koldun is a user of it whose role
// permits the subjects that the process needs and no others.
//
// The rights of a role are a template in the JWT of the account, scoped to a signing
// key of that role. So a user's own JWT holds only tags, such as its session, and
// making a user needs no server. See docs.nats.io, "Scoped Signing Keys".
package natsauth
