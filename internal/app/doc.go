// Package app is a running office. It builds the parts of an office from the config and the
// drivers, opens its ledger, and runs its loops until it is stopped. Only drivers.go knows the
// available drivers. The package prints nothing, asks no questions, and takes its config from the
// caller.
package app
