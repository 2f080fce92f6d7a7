package strangers

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// outsidePackages are what Debian builds and tests its packages of the list with.
var outsidePackages = strings.Fields(`
	build-essential cmake meson ninja-build pkg-config autoconf automake libtool gettext texinfo perl
	cargo python3 python3-pytest python3-setuptools python3-nose2 coreutils
`)

var outsideImage struct {
	sync.Mutex
	ready string
}

// buildOutsideImage makes the image of DebianContainer once. It has nothing of ours.
func buildOutsideImage(ctx context.Context) (string, error) {
	outsideImage.Lock()
	defer outsideImage.Unlock()
	if outsideImage.ready != "" {
		return outsideImage.ready, nil
	}
	packages := strings.Join(outsidePackages, ",")
	name := fmt.Sprintf("company-strangers/outside:%x",
		sha256.Sum256([]byte(packages)))[:len("company-strangers/outside:")+12]
	if exec.CommandContext(ctx, "docker", "image", "inspect", name).Run() != nil {
		if err := importDebian(ctx, packages, name); err != nil {
			return "", fmt.Errorf("make %s: %w", name, err)
		}
	}
	outsideImage.ready = name
	return name, nil
}

// importDebian has mmdebstrap write a root file system into the daemon.
func importDebian(ctx context.Context, packages, name string) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Minute)
	defer cancel()
	make := exec.CommandContext(ctx, "mmdebstrap", "--quiet", "--variant=minbase", "--include="+packages,
		"--aptopt=APT::Install-Recommends \"false\"",
		"--keyring="+archiveKeyring, "--format=tar", "bookworm", "-", "deb "+findArchive(ctx)+" bookworm main")
	load := exec.CommandContext(ctx, "docker", "import", "-", name)
	var made, loaded strings.Builder
	make.Stderr, load.Stderr, load.Stdout = &made, &loaded, &loaded
	tar, err := make.StdoutPipe()
	if err != nil {
		return err
	}
	load.Stdin = tar
	if err := make.Start(); err != nil {
		return err
	}
	failed := load.Run()
	if failed != nil {
		cancel() // whom would it write to
	}
	if err := make.Wait(); err != nil || failed != nil {
		// half of a tar may have been taken
		_ = exec.CommandContext(context.WithoutCancel(ctx), "docker", "image", "rm", name).Run()
		return fmt.Errorf("%w\n%s%s", errors.Join(err, failed), clipText(made.String(), 4000), loaded.String())
	}
	return nil
}
