package docker

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	dockercontainer "github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	dockernetwork "github.com/docker/docker/api/types/network"
	"github.com/docker/docker/api/types/strslice"
	"github.com/docker/go-connections/nat"
	dockerspec "github.com/moby/docker-image-spec/specs-go/v1"

	"company/internal/company"
	"company/internal/container"
	"company/internal/container/docker/seccomp"
	"company/internal/container/dockerapi"
)

// requireRefused starts a container on a daemon that lies once: it must be
// refused before its start, and removed.
func requireRefused(
	t *testing.T, d *fakeDaemon, r *Runtime, spec container.Spec, alter func(*dockercontainer.InspectResponse),
) {
	t.Helper()
	d.mu.Lock()
	d.alter, d.started, d.removed = alter, 0, 0
	d.mu.Unlock()
	_, err := r.Start(testContext(t), spec)
	requireCode(t, err, company.EPolicy)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.started != 0 {
		t.Error("the container was started")
	}
	if d.removed != 1 {
		t.Errorf("removed %d times", d.removed)
	}
	if d.filled != 0 {
		t.Error("files were put into it")
	}
}

// newBuildSpec is a container that makes a layer of an image.
func newBuildSpec(p container.Profile, command ...string) container.Spec {
	spec := newSpec(command...)
	spec.Profile, spec.Labels, spec.Name = p, container.BuildLabels, dockerapi.BuildPrefix+"test-"+world.office
	return spec
}

// The positive control of all the tests below: an honest daemon's container
// starts, from the same fake.
func TestHonestDaemon(t *testing.T) {
	d, r := newFakeDaemon(t)
	c := mustStart(t, r, newSpec("echo"))
	if err := c.Remove(testContext(t)); err != nil {
		t.Fatal(err)
	}
	if d.started != 1 || d.removed != 1 {
		t.Errorf("started %d times, removed %d times", d.started, d.removed)
	}
}

// T2: a daemon that changes any field of either configuration, or drops one
// that we set, is caught, whatever the field is called.
func TestEveryFieldIsCompared(t *testing.T) {
	for _, spec := range []container.Spec{newSpec("echo"), newBuildSpec(container.Build, "echo"),
		newBuildSpec(container.BuildRoot, "echo")} {
		t.Run("profile "+string(spec.Profile), func(t *testing.T) { requireEveryFieldCompared(t, spec) })
	}
}

func requireEveryFieldCompared(t *testing.T, spec container.Spec) {
	d, r := newFakeDaemon(t)
	// The fields whose value is the daemon's to choose, in part.
	free := map[string][]string{
		"changed": {"HostConfig.ConsoleSize", "HostConfig.MaskedPaths", "HostConfig.ReadonlyPaths"}, // more may be masked
		"dropped": {"HostConfig.ConsoleSize", "HostConfig.Runtime"},
	}
	tried := 0
	each := func(at string, of func(*dockercontainer.InspectResponse) reflect.Value, sample reflect.Value) {
		for _, f := range fieldsOf(sample.Type()) {
			name := at + "." + f.Name
			for _, kind := range []string{"changed", "dropped"} {
				if slices.Contains(free[kind], name) {
					continue
				}
				if kind == "dropped" && isEmpty(sample.FieldByIndex(f.Index)) {
					continue
				}
				tried++
				t.Run(name+" "+kind, func(t *testing.T) {
					requireRefused(t, d, r, spec, func(got *dockercontainer.InspectResponse) {
						v := of(got).FieldByIndex(f.Index)
						if kind == "dropped" {
							v.SetZero()
						} else {
							change(v)
						}
					})
				})
			}
		}
	}
	planned, ws, err := spec.Plan(0, false)
	if err != nil {
		t.Fatal(err)
	}
	config, host, _ := Policy(planned, ws)
	host.MaskedPaths, host.ReadonlyPaths = masked, readOnly
	each("Config", func(g *dockercontainer.InspectResponse) reflect.Value { return reflect.ValueOf(g.Config).Elem() },
		reflect.ValueOf(*config))
	each("HostConfig", func(g *dockercontainer.InspectResponse) reflect.Value {
		return reflect.ValueOf(g.HostConfig).Elem()
	}, reflect.ValueOf(*host))
	if tried < 100 {
		t.Errorf("only %d changes were tried", tried)
	}
}

// fieldsOf lists a struct's fields, those of embedded structs included.
func fieldsOf(t reflect.Type) (fields []reflect.StructField) {
	for _, f := range reflect.VisibleFields(t) {
		if !f.Anonymous {
			fields = append(fields, f)
		}
	}
	return fields
}

// change gives v another value of its type.
func change(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Uint, reflect.Uint16, reflect.Uint64:
		v.SetUint(v.Uint() + 1)
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		change(v.Elem())
	case reflect.Slice:
		e := reflect.New(v.Type().Elem()).Elem()
		change(e)
		v.Set(reflect.Append(v, e))
	case reflect.Array:
		change(v.Index(0))
	case reflect.Map:
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
		key := reflect.New(v.Type().Key()).Elem()
		change(key)
		v.SetMapIndex(key, reflect.New(v.Type().Elem()).Elem())
	case reflect.Struct:
		change(v.Field(0))
	default:
		panic("no change known for " + v.Kind().String())
	}
}

// T2, the attacks by name, with values that mean something.
func TestForbiddenFields(t *testing.T) {
	d, r := newFakeDaemon(t)
	yes := true
	unlimited := int64(-1)
	for name, alter := range map[string]func(*dockercontainer.InspectResponse){
		"privileged":    func(g *dockercontainer.InspectResponse) { g.HostConfig.Privileged = true },
		"capability":    func(g *dockercontainer.InspectResponse) { g.HostConfig.CapAdd = strslice.StrSlice{"SYS_ADMIN"} },
		"fewer dropped": func(g *dockercontainer.InspectResponse) { g.HostConfig.CapDrop = strslice.StrSlice{"CHOWN"} },
		"docker socket": func(g *dockercontainer.InspectResponse) {
			g.HostConfig.Binds = []string{"/var/run/docker.sock:/s"}
		},
		"mount point": func(g *dockercontainer.InspectResponse) {
			g.Mounts = []dockercontainer.MountPoint{{Type: mount.TypeVolume}}
		},
		"host network":        func(g *dockercontainer.InspectResponse) { g.HostConfig.NetworkMode = "host" },
		"host pid":            func(g *dockercontainer.InspectResponse) { g.HostConfig.PidMode = "host" },
		"host uts":            func(g *dockercontainer.InspectResponse) { g.HostConfig.UTSMode = "host" },
		"host user namespace": func(g *dockercontainer.InspectResponse) { g.HostConfig.UsernsMode = "host" },
		"host ipc":            func(g *dockercontainer.InspectResponse) { g.HostConfig.IpcMode = "host" },
		"host cgroup":         func(g *dockercontainer.InspectResponse) { g.HostConfig.CgroupnsMode = "host" },
		"no seccomp": func(g *dockercontainer.InspectResponse) {
			g.HostConfig.SecurityOpt = []string{"no-new-privileges", "seccomp=unconfined"}
		},
		"new privileges": func(g *dockercontainer.InspectResponse) {
			g.HostConfig.SecurityOpt = g.HostConfig.SecurityOpt[1:]
		},
		"apparmor off": func(g *dockercontainer.InspectResponse) {
			g.HostConfig.SecurityOpt = append(g.HostConfig.SecurityOpt, "apparmor=unconfined")
		},
		"apparmor unconfined": func(g *dockercontainer.InspectResponse) { g.AppArmorProfile = "unconfined" },
		"writable root":       func(g *dockercontainer.InspectResponse) { g.HostConfig.ReadonlyRootfs = false },
		"unmasked":            func(g *dockercontainer.InspectResponse) { g.HostConfig.MaskedPaths = []string{} },
		"one path unmasked":   func(g *dockercontainer.InspectResponse) { g.HostConfig.MaskedPaths = masked[1:] },
		"proc/sys writable":   func(g *dockercontainer.InspectResponse) { g.HostConfig.ReadonlyPaths = readOnly[:2] },
		"swap":                func(g *dockercontainer.InspectResponse) { g.HostConfig.MemorySwap = -1 },
		"no pids limit":       func(g *dockercontainer.InspectResponse) { g.HostConfig.PidsLimit = &unlimited },
		"no oom killer":       func(g *dockercontainer.InspectResponse) { g.HostConfig.OomKillDisable = &yes },
		"tmpfs without size":  func(g *dockercontainer.InspectResponse) { g.HostConfig.Tmpfs[container.WorkDir] = "exec" },
		"logs on host disk":   func(g *dockercontainer.InspectResponse) { g.HostConfig.LogConfig.Type = "json-file" },
		"root":                func(g *dockercontainer.InspectResponse) { g.Config.User = "0" },
		"terminal":            func(g *dockercontainer.InspectResponse) { g.Config.Tty = true },
		"init":                func(g *dockercontainer.InspectResponse) { g.HostConfig.Init = &yes },
		"restart":             func(g *dockercontainer.InspectResponse) { g.HostConfig.RestartPolicy.Name = "always" },
		"health check":        func(g *dockercontainer.InspectResponse) { g.Config.Healthcheck.Test = []string{"CMD", "/x"} },
		"other label":         func(g *dockercontainer.InspectResponse) { g.Config.Labels[container.LabelEpoch] = "4" },
		"no label":            func(g *dockercontainer.InspectResponse) { delete(g.Config.Labels, container.LabelRole) },
		"other environment":   func(g *dockercontainer.InspectResponse) { g.Config.Env = []string{"LD_PRELOAD=/x"} },
		"other command":       func(g *dockercontainer.InspectResponse) { g.Path = "/bin/sh" },
		"other arguments":     func(g *dockercontainer.InspectResponse) { g.Args = []string{"-c", "true"} },
		"other image":         func(g *dockercontainer.InspectResponse) { g.Image = "sha256:" + strings.Repeat("0", 64) },
		"other name":          func(g *dockercontainer.InspectResponse) { g.Name = "/other" },
		"running already":     func(g *dockercontainer.InspectResponse) { g.State.Status = "running" },
		"has a process":       func(g *dockercontainer.InspectResponse) { g.State.Pid = 4711 },
		"exec inside":         func(g *dockercontainer.InspectResponse) { g.ExecIDs = []string{"x"} },
		"restarted":           func(g *dockercontainer.InspectResponse) { g.RestartCount = 1 },
		"ports": func(g *dockercontainer.InspectResponse) {
			g.NetworkSettings.Ports = nat.PortMap{"80/tcp": nil}
		},
		"second network": func(g *dockercontainer.InspectResponse) {
			g.NetworkSettings.Networks["bridge"] = &dockernetwork.EndpointSettings{}
		},
		"bridge network": func(g *dockercontainer.InspectResponse) {
			g.NetworkSettings.Networks = map[string]*dockernetwork.EndpointSettings{"bridge": {}}
		},
		"no host config": func(g *dockercontainer.InspectResponse) { g.HostConfig = nil },
		"no config":      func(g *dockercontainer.InspectResponse) { g.Config = nil },
		"no state":       func(g *dockercontainer.InspectResponse) { g.State = nil },
		"no networks":    func(g *dockercontainer.InspectResponse) { g.NetworkSettings = nil },
	} {
		t.Run(name, func(t *testing.T) { requireRefused(t, d, r, newSpec("echo"), alter) })
	}
}

// T2: set-up commands run as root; a daemon that gives their container more
// than the profile of a build does is refused as with workers.
func TestBuildsAreChecked(t *testing.T) {
	d, r := newFakeDaemon(t)
	for _, p := range []container.Profile{container.Build, container.BuildRoot} {
		for name, alter := range map[string]func(*dockercontainer.InspectResponse){
			"privileged": func(g *dockercontainer.InspectResponse) { g.HostConfig.Privileged = true },
			"one more right": func(g *dockercontainer.InspectResponse) {
				g.HostConfig.CapAdd = append(g.HostConfig.CapAdd, "SYS_ADMIN")
			},
			"docker socket": func(g *dockercontainer.InspectResponse) {
				g.HostConfig.Binds = []string{"/var/run/docker.sock:/s"}
			},
			"host network": func(g *dockercontainer.InspectResponse) { g.HostConfig.NetworkMode = "host" },
			"workers' filter": func(g *dockercontainer.InspectResponse) {
				g.HostConfig.SecurityOpt[1] = "seccomp=" + seccomp.Profile()
			},
			"no filter": func(g *dockercontainer.InspectResponse) { g.HostConfig.SecurityOpt = g.HostConfig.SecurityOpt[:1] },
			"files without bound": func(g *dockercontainer.InspectResponse) {
				g.HostConfig.Ulimits = g.HostConfig.Ulimits[:2]
			},
			"tmpfs without size": func(g *dockercontainer.InspectResponse) { g.HostConfig.Tmpfs[container.TmpDir] = "exec" },
			"other user":         func(g *dockercontainer.InspectResponse) { g.Config.User = "1:1" },
			"labels of an office": func(g *dockercontainer.InspectResponse) {
				g.Config.Labels = newSpec("echo").Labels.Map()
			},
			"environment": func(g *dockercontainer.InspectResponse) { g.Config.Env = []string{"LD_PRELOAD=/x"} },
		} {
			t.Run(string(p)+", "+name, func(t *testing.T) {
				spec := newBuildSpec(p, "echo")
				spec.Files = strings.NewReader("a tar")
				requireRefused(t, d, r, spec, alter)
			})
		}
		spec := newBuildSpec(p, "echo") // the control: an honest daemon
		spec.Files = strings.NewReader("a tar")
		c := mustStart(t, r, spec)
		if d.filled != 1 {
			t.Errorf("%s: filled %d times", p, d.filled)
		}
		if err := c.Remove(testContext(t)); err != nil {
			t.Fatal(err)
		}
		d.filled = 0
	}
}

func TestImageIsChecked(t *testing.T) {
	d, r := newFakeDaemon(t)
	honest := d.image
	for name, alter := range map[string]func(){
		"volume":   func() { d.image.Config.Volumes = map[string]struct{}{"/data": {}} },
		"port":     func() { d.image.Config.ExposedPorts = map[string]struct{}{"80/tcp": {}} },
		"other id": func() { d.image.ID = "sha256:" + strings.Repeat("0", 64) },
	} {
		t.Run(name, func(t *testing.T) {
			d.image = honest
			d.image.Config = &dockerspec.DockerOCIImageConfig{}
			alter()
			_, err := r.Start(testContext(t), newSpec("echo"))
			requireCode(t, err, company.EPolicy)
			if slices.Contains(d.requests, "POST /containers/create") {
				t.Error("a container was created")
			}
		})
	}
}

// The size option where the storage driver has it, and tmpfs where the driver
// turns out not to.
func TestWorkspaceModes(t *testing.T) {
	d, _ := newFakeDaemon(t)
	d.info.DriverStatus = [][2]string{{"Backing Filesystem", "xfs"}}
	r := d.open(t)

	c := mustStart(t, r, newSpec("echo"))
	host := d.got.HostConfig
	if host.StorageOpt["size"] != "10737418240" || host.ReadonlyRootfs || len(host.Tmpfs) != 0 {
		t.Errorf("size option: %v, read-only %v, tmpfs %v", host.StorageOpt, host.ReadonlyRootfs, host.Tmpfs)
	}
	if err := c.Remove(testContext(t)); err != nil {
		t.Fatal(err)
	}

	d.createFails = func(h *dockercontainer.HostConfig) bool { return len(h.StorageOpt) > 0 }
	for range 2 { // found out once, remembered then
		c = mustStart(t, r, newSpec("echo"))
		host = d.got.HostConfig
		if len(host.StorageOpt) != 0 || !host.ReadonlyRootfs || len(host.Tmpfs) != 3 {
			t.Errorf("fallback: %v, read-only %v, tmpfs %v", host.StorageOpt, host.ReadonlyRootfs, host.Tmpfs)
		}
		if err := c.Remove(testContext(t)); err != nil {
			t.Fatal(err)
		}
	}
	spec := newSpec("echo")
	spec.Limits.DiskBytes = 10 * container.GiB
	_, err := r.Start(testContext(t), spec)
	requireCode(t, err, company.EDocker)

	// A daemon that refuses both is not proof against the size option.
	d.createFails = func(*dockercontainer.HostConfig) bool { return true }
	r = d.open(t)
	_, err = r.Start(testContext(t), newSpec("echo"))
	requireCode(t, err, company.EDocker)
	if !r.sized.Load() {
		t.Error("the size option was given up after an unrelated failure")
	}
}
