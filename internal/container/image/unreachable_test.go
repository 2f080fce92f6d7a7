package image

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/toolbox/toolproto"
)

// A host that was not reached in several attempts is asked about at the first failure. If this machine did not reach
// it, an approval tries again. If a client in its container did not, it never can, and the fix says so. What a
// registry answers, and our own mirror, may be better at the next attempt.
func TestUnreachableHostIsAskedAboutAtOnce(t *testing.T) {
	t.Parallel()
	for says, asked := range map[string]bool{
		"npm error network request to https://npm.example/x failed, reason: getaddrinfo ENOTFOUND npm.example": true,
		"npm error code EAI_AGAIN": true,
		"ERROR: Could not install packages: [Errno -3] Temporary failure in name resolution":                      true,
		"go: x@v1.0.0: Get \"https://proxy.example/x\": dial tcp: lookup proxy.example: no such host":             true,
		"dial tcp 192.0.2.1:443: connect: connection refused":                                                     true,
		"warning: spurious network error: [6] Could not resolve hostname (Could not resolve host: index.example)": true,
		"Could not fetch specs from https://gems.example/ due to Connection refused - connect(2)":                 true,
		"curl error 6 while downloading https://p.example: Could not resolve host: p.example":                     true,
		"E: Failed to fetch http://deb.example/x.deb  Temporary failure resolving 'deb.example'":                  true,

		"npm error 502 the registry cannot be reached now":                          false,
		"npm error connect ECONNREFUSED 127.0.0.1:8377":                             false,
		"E: Failed to fetch http://127.0.0.1:8377/debian/0/x.deb  502  Bad Gateway": false,
		"go: read tcp 10.0.0.2:3000->192.0.2.1:443: read: connection reset by peer": false,
		"ERROR: HTTP error 503 while getting https://pypi.example/x":                false,
		"boom": false,
	} {
		ofClient := clientError("npm", ecosystem.Words{}, ecosystem.Step{Failure: "it cannot be installed", Fix: "do x"},
			toolproto.RunResult{ExitCode: 1, Stderr: toolproto.Output{Head: says}})
		ofHost := company.E(company.EImage, "it cannot be fetched").Wrap(errors.New(says)).Fix("do x")
		faults := map[string]error{"client": ofClient, "host": ofHost, "base": fmt.Errorf("the base: %s", says)}
		for who, err := range faults {
			got := layerError("deps", err)
			var fault *company.Error
			if !errors.As(got, &fault) || company.NeedsPerson(got) != asked ||
				strings.Contains(fault.Hint, "company approve tries again") != (asked && who != "client") ||
				strings.Contains(fault.Hint, "reach the project's registries only") != (asked && who == "client") {
				t.Errorf("%s, of the %s: %+v", says, who, got)
			}
			if who != "base" && !strings.Contains(fault.Hint, "do x") {
				t.Errorf("the own fix of the %s is lost: %q", who, fault.Hint)
			}
		}
	}
}
