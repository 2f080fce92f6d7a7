package service

// memcached stores no data on disk: each container starts with an empty one.
var memcached = server{
	name: "memcached", title: "memcached", product: "memcached", version: "1.6", port: 11211,
	hosts:    []string{"memcached", "memcache"},
	packages: []string{"memcached"},
	program:  "memcached",
	start:    `memcached -l 127.0.0.1 -p 11211 -U 0 -m 64`,
	ready:    listensAt("11211"),
	env: func(Account) map[string]string {
		return map[string]string{"MEMCACHED_HOST": "127.0.0.1", "MEMCACHED_PORT": "11211",
			"MEMCACHED_SERVERS": "127.0.0.1:11211"}
	},
}

// listensAt returns a command that succeeds if a server listens at a port.
func listensAt(port string) string { return `bash -c 'exec 3<>/dev/tcp/127.0.0.1/` + port + `'` }
