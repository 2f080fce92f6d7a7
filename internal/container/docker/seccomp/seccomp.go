// Package seccomp holds the system-call filter of our containers and its
// derivation. A test checks that profile.json is exactly the result of its derive
// function for moby.json. The package does not load filters; the daemon does.
//
// moby.json is the default profile of the Docker engine, unchanged, from the
// module github.com/moby/profiles/seccomp v0.2.3 (Copyright the moby authors,
// Apache License 2.0, see LICENSE.moby). profile.json is a modified version of
// it under the same licence; derive is the list of the changes. To renew:
//
//	cp "$(go mod download -json github.com/moby/profiles/seccomp@latest | jq -r .Dir)"/default.json moby.json
//	go test -run TestProfileIsDerived -write
package seccomp

import (
	"bytes"
	_ "embed"
	"encoding/json"
)

//go:embed profile.json
var profile []byte

// Profile returns the filter in the daemon's JSON form, on one line.
func Profile() string {
	var b bytes.Buffer
	if err := json.Compact(&b, profile); err != nil {
		panic(err) // the embedded file is checked by a test
	}
	return b.String()
}

// Preparation returns the filter for build containers, in which package tools run as root. It allows
// no more than Profile. It refuses connections to the kernel's audit with the error of a kernel
// without audit. Tools that add users then continue, while they would fail with other errors.
func Preparation() string {
	var d document
	if err := json.Unmarshal(profile, &d); err != nil {
		panic(err) // the embedded file is checked by a test
	}
	unsupported := uint(93) // EPROTONOSUPPORT
	d.Syscalls = append(d.Syscalls, rule{
		Names: []string{"socket"}, Action: "SCMP_ACT_ERRNO", ErrnoRet: &unsupported,
		Args: []argument{{Index: 0, Value: afNetlink, Op: "SCMP_CMP_EQ"}, {Index: 2, Value: netlinkAudit, Op: "SCMP_CMP_EQ"}},
	})
	out, err := json.Marshal(d)
	if err != nil {
		panic(err)
	}
	return string(out)
}

type document struct {
	DefaultAction   string         `json:"defaultAction"`
	DefaultErrnoRet *uint          `json:"defaultErrnoRet,omitempty"`
	ArchMap         []architecture `json:"archMap"`
	Syscalls        []rule         `json:"syscalls"`
}

type architecture struct {
	Architecture     string   `json:"architecture"`
	SubArchitectures []string `json:"subArchitectures"`
}

type rule struct {
	Names    []string   `json:"names"`
	Action   string     `json:"action"`
	ErrnoRet *uint      `json:"errnoRet,omitempty"`
	Args     []argument `json:"args,omitempty"`
	Comment  string     `json:"comment,omitempty"`
	Includes *condition `json:"includes,omitempty"`
	Excludes *condition `json:"excludes,omitempty"`
}

type argument struct {
	Index    uint   `json:"index"`
	Value    uint64 `json:"value"`
	ValueTwo uint64 `json:"valueTwo,omitempty"`
	Op       string `json:"op"`
}

type condition struct {
	Caps      []string `json:"caps,omitempty"`
	Arches    []string `json:"arches,omitempty"`
	MinKernel string   `json:"minKernel,omitempty"`
}

// Allowed address families of socket(2).
const (
	afUnix    = 1
	afInet    = 2
	afInet6   = 10
	afNetlink = 16

	netlinkAudit = 9 // protocol
)
