// Package app is a running office: it puts together what an office needs, from
// the config and the drivers, opens its ledger, and keeps its loops running
// until it is stopped. Only drivers.go knows which drivers there are. It prints
// nothing, asks no one and reads no config: the caller gives it one.
package app
