// Package diagnose checks whether this machine and this office can work.
//
// It owns the checks of doctor, and the preflight of a submission. Preflight checks the
// repository, the Docker daemon and a model for each role concurrently, before any file is
// written. Packages with a check of their own provide it as healthcheck.Check.
//
// Checks close everything that they open, and change nothing else. A check that does not respond
// in time is unknown, never a pass. Each failure includes a fix. The package prints nothing.
package diagnose
