package pnpm

import (
	"fmt"
	"testing"
)

// What pnpm asks for on every system is fetched ahead; what some systems need, and files
// with addresses of their own, are left to it.
func TestListForAnySystem(t *testing.T) {
	const lock = `lockfileVersion: '9.0'

packages:

  '@esbuild/darwin-arm64@0.21.5':
    resolution: {integrity: sha512-AAAA}
    engines: {node: '>=12'}
    cpu: [arm64]
    os: [darwin]

  '@s/b@2.0.0':
    resolution: {integrity: sha512-AAAA}
    peerDependencies:
      a: ^1.0.0

  a@1.1.0:
    resolution: {integrity: sha512-AAAA}
    engines: {node: '>=18'}
    hasBin: true

  fsevents@2.3.3:
    resolution: {integrity: sha512-AAAA}
    engines: {node: ^8.16.0 || ^10.6.0 || >=11.0.0}
    os: [darwin]

  elsewhere@1.0.0:
    resolution: {integrity: sha512-AAAA, tarball: https://example.org/elsewhere.tgz}
    version: 1.0.0

  musl@1.0.0:
    resolution: {integrity: sha512-AAAA}
    libc: [musl]

  last@1.0.0:
    resolution: {integrity: sha512-AAAA}

snapshots:

  zz@1.0.0: {}
`
	if got := fmt.Sprint(
		Ecosystem{}.ListForAnySystem([]byte(lock))); got != "[npm @s/b@2.0.0 npm a@1.1.0 npm last@1.0.0]" {
		t.Error(got)
	}
}
