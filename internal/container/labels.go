package container

import (
	"fmt"
	"strconv"
	"strings"

	"company/internal/company"
	"company/internal/lib/lazyregexp"
)

// The label keys. A container without one of them is not ours.
const (
	LabelOffice = "company.office"
	LabelRun    = "company.run"
	LabelEpoch  = "company.epoch"
	LabelRole   = "company.role"
)

// LabelImage is set on every image of ours. It is the only label on build containers, which belong to
// no office because images are shared.
const LabelImage = "company.image"

// LabelHosts is set on images with services. It lists the host names that resolve to 127.0.0.1 in
// their containers, separated by spaces.
const LabelHosts = "company.image.hosts"

// MaxHosts limits the host names of one image. Further names are dropped.
const MaxHosts = 16

// hostRE matches a name without dots. No public host has such a name.
var hostRE = lazyregexp.New(`^[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?$`)

// IsServiceHost reports whether a name may resolve to 127.0.0.1 in a container: it has no dots,
// contains a letter and is not already defined in the container.
func IsServiceHost(name string) bool {
	return hostRE.MatchString(name) && strings.ContainsAny(name, "abcdefghijklmnopqrstuvwxyz") && name != "localhost" &&
		name != "company"
}

// ParseHosts parses LabelHosts. It drops names that are not allowed for services.
func ParseHosts(label string) (out []string) {
	for _, name := range strings.Fields(label) {
		if IsServiceHost(name) && len(out) < MaxHosts {
			out = append(out, name)
		}
	}
	return out
}

// BuildLabels represents the label of a build container.
var BuildLabels = Labels{Role: "build"}

// Labels identify the owner of a container. All four are required, and all four must match before a
// container is removed.
type Labels struct {
	Office string // the office's id
	Run    string // run id, or pool-<n> for a container that waits for a run
	Epoch  uint64 // the office's epoch at its start
	Role   string // worker, reviewer, merger, gate, …
}

var labelRE = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$`)

// Validate returns an EInvalid error for labels that could not distinguish our containers from foreign
// ones.
func (l Labels) Validate() error {
	if l == BuildLabels {
		return nil
	}
	for _, f := range [...]struct{ key, value string }{
		{LabelOffice, l.Office}, {LabelRun, l.Run}, {LabelRole, l.Role},
	} {
		if !labelRE.MatchString(f.value) {
			return company.E(company.EInvalid, fmt.Sprintf("invalid value %q for the container label %s", f.value, f.key)).
				Fix("use 1 to 63 letters, digits, dots, dashes and underscores")
		}
	}
	return nil
}

// Map returns the labels as the daemon stores them.
func (l Labels) Map() map[string]string {
	if l == BuildLabels {
		return map[string]string{LabelImage: l.Role}
	}
	return map[string]string{
		LabelOffice: l.Office,
		LabelRun:    l.Run,
		LabelEpoch:  strconv.FormatUint(l.Epoch, 10),
		LabelRole:   l.Role,
	}
}

// ParseLabels parses our labels: all four, or the label of a build without any of them. ok is false if
// one of the four is missing or malformed. Such a container is foreign and must not be touched.
func ParseLabels(m map[string]string) (labels Labels, ok bool) {
	if m[LabelImage] == BuildLabels.Role && m[LabelOffice]+m[LabelRun]+m[LabelEpoch]+m[LabelRole] == "" {
		return BuildLabels, true
	}
	epoch, err := strconv.ParseUint(m[LabelEpoch], 10, 64)
	labels = Labels{Office: m[LabelOffice], Run: m[LabelRun], Epoch: epoch, Role: m[LabelRole]}
	// The round trip refuses spellings that Map would not write ("007").
	if err != nil || labels.Validate() != nil || labels.Map()[LabelEpoch] != m[LabelEpoch] {
		return Labels{}, false
	}
	return labels, true
}

// Name returns the deterministic name of the container with these labels:
// company-<office>-<run>-<epoch>, followed by the suffixes. The daemon refuses a second container with
// the same name, so starting one can be repeated safely.
func (l Labels) Name(suffix ...string) string {
	parts := append([]string{"company", l.Office, l.Run, strconv.FormatUint(l.Epoch, 10)}, suffix...)
	return strings.Join(parts, "-")
}
