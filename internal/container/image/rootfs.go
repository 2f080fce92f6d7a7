package image

import (
	"archive/tar"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"company/internal/company"
)

const gitConfig = `[user]
	name = agent
	email = agent@company.invalid
[safe]
	directory = *
[init]
	defaultBranch = main
[advice]
	detachedHead = false
`

// excludedFiles are files of a root file system that reveal the host that built it, or that every
// container has anyway.
var excludedFiles = []string{
	"etc/resolv.conf", "etc/hostname", "etc/hosts", "etc/machine-id", "etc/passwd-", "etc/group-", "etc/shadow-",
	"etc/gshadow-", "etc/.pwd.lock",
	"etc/gitconfig", "etc/apt/sources.list", "etc/apt/auth.conf", "etc/apt/apt.conf.d/99mmdebstrap",
	"etc/dpkg/dpkg.cfg.d/99mmdebstrap", ".dockerenv",
}

// emptiedDirs are directories whose content is omitted.
var emptiedDirs = []string{"dev", "proc", "sys", "run", "tmp", "work", "home/agent", "etc/apt/sources.list.d",
	"etc/apt/auth.conf.d", "var/log", "var/cache", "var/lib/apt/lists"}

// writeRootfs copies a root file system from one tar to another. It omits traces of the host, devices,
// set-id bits and file capabilities. It adds the agent's user, home and git configuration. The input
// is treated as data and never unpacked here. It must contain the programs.
func writeRootfs(r io.Reader, file string, programs ...string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	buf := bufio.NewWriterSize(f, 1<<20)
	if err := filterRootfs(r, buf, programs...); err != nil {
		return err
	}
	if err := buf.Flush(); err != nil {
		return err
	}
	return f.Close()
}

func filterRootfs(r io.Reader, w io.Writer, programs ...string) error {
	tr, tw := tar.NewReader(r), tar.NewWriter(w)
	seen := map[string]bool{}
	accounts := map[string][]byte{"etc/passwd": nil, "etc/group": nil}
	for {
		header, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("read a root file system: %w", err)
		}
		name := strings.TrimPrefix(path.Clean("/"+header.Name), "/")
		if name == "" || isExcluded(name) {
			continue
		}
		if _, ok := accounts[name]; ok {
			if header.Typeflag != tar.TypeReg || header.Size > 1<<20 {
				return company.E(company.EImage, "/"+name+" of the base image is not a regular file, or is too large")
			}
			if accounts[name], err = io.ReadAll(tr); err != nil {
				return err
			}
			continue
		}
		switch header.Typeflag {
		case tar.TypeReg, tar.TypeDir, tar.TypeSymlink, tar.TypeLink:
		default:
			continue // devices, pipes
		}
		seen[name] = true
		header.Mode &^= 0o6000
		for k := range header.PAXRecords {
			if strings.HasPrefix(k, "SCHILY.xattr.") {
				delete(header.PAXRecords, k)
			}
		}
		//nolint:staticcheck // the reader fills it and the writer still reads it
		header.Xattrs = nil
		header.Uname, header.Gname = "", ""
		if err := tw.WriteHeader(header); err != nil {
			return err
		}
		if _, err := io.Copy(tw, tr); err != nil {
			return err
		}
	}
	for _, tool := range programs {
		if !slices.ContainsFunc([]string{"bin/", "usr/bin/", "usr/local/bin/"},
			func(dir string) bool { return seen[dir+tool] }) {
			return company.E(company.EImage, "the base image has no "+tool).
				Fix("set container.image to an image with a shell and git, or auto")
		}
	}
	for _, d := range []struct {
		name string
		mode int64
		uid  int
	}{
		{"dev", 0o755, 0}, {"proc", 0o755, 0}, {"sys", 0o755, 0}, {"run", 0o755, 0}, {"tmp", 0o1777, 0}, {"home", 0o755, 0},
		{"opt", 0o755, 0},
		{"work", 0o755, agentID}, {"home/agent", 0o755, agentID},
	} {
		if seen[d.name] {
			continue
		}
		if err := tw.WriteHeader(
			&tar.Header{Typeflag: tar.TypeDir, Name: d.name + "/", Mode: d.mode, Uid: d.uid, Gid: d.uid,
				ModTime: layerTime}); err != nil {
			return err
		}
	}
	for _, a := range []struct {
		name string
		text []byte
	}{
		{"etc/passwd",
			withAgentLine(accounts["etc/passwd"], fmt.Sprintf("agent:x:%d:%d::/home/agent:/bin/bash", agentID, agentID))},
		{"etc/group", withAgentLine(accounts["etc/group"], fmt.Sprintf("agent:x:%d:", agentID))},
		{"etc/gitconfig", []byte(gitConfig)},
	} {
		if err := tw.WriteHeader(
			&tar.Header{Typeflag: tar.TypeReg, Name: a.name, Mode: 0o644, Size: int64(len(a.text)),
				ModTime: layerTime}); err != nil {
			return err
		}
		if _, err := tw.Write(a.text); err != nil {
			return err
		}
	}
	return tw.Close()
}

func isExcluded(name string) bool {
	// filterRootfs creates the emptied directories that need our own owner
	// and mode.
	return slices.Contains(excludedFiles, name) || slices.ContainsFunc(emptiedDirs, func(dir string) bool {
		return strings.HasPrefix(name, dir+"/") || name == dir && (dir == "work" || dir == "home/agent")
	})
}

// withAgentLine adds the agent's line to an account file. It replaces other lines with the same name
// or number.
func withAgentLine(text []byte, line string) []byte {
	var out bytes.Buffer
	for l := range strings.SplitSeq(string(text), "\n") {
		f := strings.Split(l, ":")
		if l == "" || f[0] == "agent" || len(f) > 2 && f[2] == fmt.Sprint(agentID) {
			continue
		}
		out.WriteString(l + "\n")
	}
	out.WriteString(line + "\n")
	return out.Bytes()
}
