# Raw requests to the gateway. $1 is the run's own repository.
own=/git/$1.git
req() { # name, request
	exec 9<>/dev/tcp/127.0.0.1/8377 || { echo "$1|1|no connection"; return; }
	printf "$2" >&9
	IFS= read -r -t 20 line <&9
	echo "$1|$?|$(printf %s "$line" | tr -d '\r')"
	exec 9>&- 9<&-
}
end='\r\nHost: x\r\n\r\n'
req own "GET $own/info/refs?service=git-upload-pack HTTP/1.1$end"
req config "GET $own/config HTTP/1.1$end"
req head "GET $own/HEAD HTTP/1.1$end"
req dumb "GET $own/info/refs HTTP/1.1$end"
req archive "GET $own/info/refs?service=git-upload-archive HTTP/1.1$end"
req other "GET /git/t9-01.1.git/info/refs?service=git-upload-pack HTTP/1.1$end"
req dots "GET /git/../git/$1.git/info/refs?service=git-upload-pack HTTP/1.1$end"
req escaped "GET /git/%%2e%%2e/git/$1.git/info/refs?service=git-upload-pack HTTP/1.1$end"
req slashes "GET //git/$1.git/info/refs?service=git-upload-pack HTTP/1.1$end"
req absolute "GET http://127.0.0.1:8377$own/info/refs?service=git-upload-pack HTTP/1.1$end"
req root "GET / HTTP/1.1$end"
req v1 "POST /v1/chat/completions HTTP/1.1$end"
req connect "CONNECT 127.0.0.1:22 HTTP/1.1$end"
req upgrade "GET $own/info/refs?service=git-upload-pack HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: h2c$end"
req smuggle "POST $own/git-receive-pack HTTP/1.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked$end"
req twice "POST $own/git-receive-pack HTTP/1.1\r\nContent-Length: 4\r\nContent-Length: 5$end"
req bare "GET $own/info/refs?service=git-upload-pack HTTP/1.1\nHost: x\n\r\n\r\n"
req long "GET $own/info/refs?service=git-upload-pack HTTP/1.1\r\nX: $(head -c 20000 /dev/zero | tr '\0' a)$end"
req http2 "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
# A gzip bomb: 100 MB of zeros in 100 kB, as a fetch request.
head -c 100000000 /dev/zero | gzip -9 >/tmp/bomb.gz
{
	printf "POST $own/git-upload-pack HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-git-upload-pack-request\r\nContent-Encoding: gzip\r\nContent-Length: $(stat -c %s /tmp/bomb.gz)\r\n\r\n"
	cat /tmp/bomb.gz
} >/tmp/bomb
exec 9<>/dev/tcp/127.0.0.1/8377
cat /tmp/bomb >&9 2>/dev/null
IFS= read -r -t 30 line <&9
echo "gzip bomb|$?|$(printf %s "$line" | tr -d '\r')"
exec 9>&- 9<&-
# More connections than the pipe has streams, held open and then let go.
for i in $(seq 90); do
	eval "exec $((i+20))<>/dev/tcp/127.0.0.1/8377"
done
for i in $(seq 90); do
	eval "exec $((i+20))>&-"
done
echo "90 connections|0|made"
# A flood of requests for what is not served.
for i in $(seq 600); do
	exec 9<>/dev/tcp/127.0.0.1/8377
	printf "GET /flood/$i HTTP/1.1$end" >&9
	IFS= read -r -t 20 line <&9
	exec 9>&- 9<&-
done
echo "flood|$?|$(printf %s "$line" | tr -d '\r')"
req "own again" "GET $own/info/refs?service=git-upload-pack HTTP/1.1$end"
# Half a push, cut off, a few times: what it had sent must not stay on the host.
for i in 1 2 3; do
	exec 9<>/dev/tcp/127.0.0.1/8377
	{
		printf "POST $own/git-receive-pack HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-git-receive-pack-request\r\nContent-Length: 60000000\r\n\r\n"
		line="0000000000000000000000000000000000000000 $(git rev-parse HEAD) refs/heads/agent/${1%.*}-half\0 report-status"
		printf "$(printf '%04x' $(($(printf "$line" | wc -c) + 4)))$line"
		printf 0000
		printf 'PACK\0\0\0\2\0\0\0\1'
		# One blob of 133 MB that does not compress: its header, then zlib with
		# stored blocks.
		printf '\xb0\xc1\xd7\xff\x03'
		printf '\x78\x01'
		for b in $(seq 300); do
			printf '\x00\xff\xff\x00\x00'
			head -c 65535 /dev/urandom
		done
	} >&9 2>/dev/null
	sleep 0.3
	exec 9>&- 9<&-
done
echo "half a push|0|cut"
