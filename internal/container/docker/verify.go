package docker

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	dockercontainer "github.com/docker/docker/api/types/container"
	dockerimage "github.com/docker/docker/api/types/image"

	"company/internal/company"
	"company/internal/container"
)

// masked and readOnly are the paths that the daemon hides and protects by
// default. Newer daemons add more paths.
var (
	masked = []string{"/proc/acpi", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/sched_debug",
		"/proc/scsi", "/proc/timer_list", "/proc/timer_stats", "/sys/firmware"}
	readOnly = []string{"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"}
)

// expectation describes a container as it must be before it may start.
type expectation struct {
	spec      container.Spec
	workspace container.Workspace
	image     dockerimage.InspectResponse
	runtime   string // the daemon's default runtime: runc, or a stronger one that the operator chose
}

// verifyImage returns EPolicy for an image that would give its containers more than the policy does.
// For example, a VOLUME is a writable directory of the host even with a read-only root.
func verifyImage(id string, image dockerimage.InspectResponse) error {
	if image.ID != id {
		return policyError("Image", id, image.ID)
	}
	if image.Config == nil {
		return nil
	}
	if len(image.Config.Volumes) > 0 {
		return policyError("image VOLUME", nil, slices.Sorted(maps.Keys(image.Config.Volumes))).
			Fix("flatten the image: docker export and docker import drop its volumes")
	}
	if len(image.Config.ExposedPorts) > 0 {
		return policyError("image EXPOSE", nil, slices.Sorted(maps.Keys(image.Config.ExposedPorts))).
			Fix("flatten the image: docker export and docker import drop its ports")
	}
	return nil
}

// Verify compares every field of a created container with the policy. Fields that the policy sets must
// have its values, and all others must be empty. The response to create proves nothing, because the
// daemon silently drops unknown fields and adds its own defaults. Verify returns the first difference
// as EPolicy.
func Verify(got dockercontainer.InspectResponse, want expectation) error {
	if got.ContainerJSONBase == nil || got.HostConfig == nil || got.Config == nil || got.State == nil ||
		got.NetworkSettings == nil {
		return policyError("inspect", "a whole description", "parts of it")
	}
	config, host, _ := Policy(want.spec, want.workspace)
	if err := verifyBase(got, want); err != nil {
		return err
	}
	if err := verifyConfig(config, got.Config, want.image); err != nil {
		return err
	}
	return verifyHost(host, got.HostConfig, want.runtime)
}

// verifyBase checks the fields of inspect outside of the two configurations.
func verifyBase(got dockercontainer.InspectResponse, want expectation) error {
	networks := slices.Sorted(maps.Keys(got.NetworkSettings.Networks))
	apparmor := got.AppArmorProfile
	if apparmor == "docker-default" {
		apparmor = ""
	}
	for _, c := range []struct {
		field     string
		want, got any
	}{
		{"Name", "/" + want.spec.Name, got.Name},
		{"Path", want.spec.Command[0], got.Path},
		{"Args", want.spec.Command[1:], got.Args},
		{"Image", want.spec.Image, got.Image},
		{"State.Status", dockercontainer.StateCreated, got.State.Status},
		{"State.Pid", 0, got.State.Pid},
		{"RestartCount", 0, got.RestartCount},
		{"ExecIDs", nil, got.ExecIDs},
		{"Mounts", nil, got.Mounts},
		{"AppArmorProfile", "", apparmor},
		{"NetworkSettings.Ports", nil, got.NetworkSettings.Ports},
	} {
		if !equalLoosely(reflect.ValueOf(c.want), reflect.ValueOf(c.got)) {
			return policyError(c.field, c.want, c.got)
		}
	}
	// Depending on the daemon, the network none is listed after creation or after the start.
	if len(networks) > 1 || len(networks) == 1 && networks[0] != "none" {
		return policyError("NetworkSettings.Networks", "none", networks)
	}
	return nil
}

// verifyConfig checks the portable configuration. The daemon merges the image's environment, labels
// and stop signal into it. It takes no other settings from the image and never replaces ours.
func verifyConfig(want, got *dockercontainer.Config, image dockerimage.InspectResponse) error {
	merged := *want
	merged.Labels = maps.Clone(want.Labels)
	if image.Config != nil {
		merged.Env = mergeEnv(want.Env, image.Config.Env)
		merged.StopSignal = image.Config.StopSignal
		for k, v := range image.Config.Labels {
			if _, ours := merged.Labels[k]; !ours {
				merged.Labels[k] = v
			}
		}
	}
	return compareFields("Config", reflect.ValueOf(merged), reflect.ValueOf(*got), nil)
}

// mergeEnv adds the image's variables that we do not set ourselves, in the daemon's order.
func mergeEnv(ours, image []string) []string {
	merged := slices.Clone(ours)
	for _, e := range image {
		key, _, _ := strings.Cut(e, "=")
		if !slices.ContainsFunc(ours, func(o string) bool { return strings.HasPrefix(o, key+"=") }) {
			merged = append(merged, e)
		}
	}
	return merged
}

// verifyHost checks the configuration that decides which resources a container can reach.
func verifyHost(want, got *dockercontainer.HostConfig, runtime string) error {
	return compareFields("HostConfig", reflect.ValueOf(*want), reflect.ValueOf(*got), map[string]func(reflect.Value) bool{
		"MaskedPaths":   containsAll(masked),
		"ReadonlyPaths": containsAll(readOnly),
		"Runtime": func(v reflect.Value) bool {
			return v.String() == "" || v.String() == runtime
		},
		// The size of a terminal, which the container does not have.
		"ConsoleSize": func(reflect.Value) bool { return true },
	})
}

// containsAll returns a rule that accepts lists with all elements of need.
func containsAll(need []string) func(reflect.Value) bool {
	return func(v reflect.Value) bool {
		have, _ := v.Interface().([]string)
		return !slices.ContainsFunc(need, func(p string) bool { return !slices.Contains(have, p) })
	}
}

// compareFields compares all fields of two structs of the same type. own holds rules for fields that
// need one. A field that a later API version adds must be empty.
func compareFields(at string, want, got reflect.Value, own map[string]func(reflect.Value) bool) error {
	for i := range want.NumField() {
		field := want.Type().Field(i)
		name := at + "." + field.Name
		w, g := want.Field(i), got.Field(i)
		if field.Anonymous {
			if err := compareFields(at, w, g, own); err != nil {
				return err
			}
			continue
		}
		if rule, ok := own[field.Name]; ok {
			if !rule(g) {
				return policyError(name, "the daemon's own default", g.Interface())
			}
			continue
		}
		if !equalLoosely(w, g) {
			return policyError(name, w.Interface(), g.Interface())
		}
	}
	return nil
}

// equalLoosely reports deep equality. It treats nil, empty values and pointers to zero values as
// equal.
func equalLoosely(a, b reflect.Value) bool {
	if isEmpty(a) || isEmpty(b) {
		return isEmpty(a) && isEmpty(b)
	}
	if a.Kind() == reflect.Struct && a.Type() == b.Type() {
		for i := range a.NumField() {
			if !equalLoosely(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a.Interface(), b.Interface())
}

func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	case reflect.Pointer:
		return v.IsNil() || isEmpty(v.Elem())
	case reflect.Struct:
		for _, field := range v.Fields() {
			if !isEmpty(field) {
				return false
			}
		}
		return true
	default:
		return v.IsZero()
	}
}

func policyError(field string, want, got any) *company.Error {
	return company.E(company.EPolicy, fmt.Sprintf("the container violates the policy: %s", field)).
		Because(fmt.Sprintf("wanted %s, the daemon has %s", formatShort(want), formatShort(got))).
		Fix("it was not started; find what changes containers on this daemon (a plugin, a proxy of its socket, its own " +
			"defaults)").NeedsPerson()
}

// formatShort formats a value for a message, truncated: the seccomp profile alone has 8 KiB.
func formatShort(v any) string {
	if isEmpty(reflect.ValueOf(v)) {
		return "nothing"
	}
	s := fmt.Sprintf("%+v", reflect.Indirect(reflect.ValueOf(v)))
	if len(s) > 200 {
		s = s[:200] + "…"
	}
	return s
}
