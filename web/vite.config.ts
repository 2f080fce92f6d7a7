import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// The page is built into the Go package that serves it. Names of assets have a hash of
// their content, so that a browser keeps them for good.
export default defineConfig({
  plugins: [react()],
  build: {
    outDir: "../internal/api/page/dist",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 2000,
  },
  server: {
    host: "127.0.0.1",
    port: 5173,
    proxy: process.env.OFFICE_SOCKET
      ? { "/api": { target: { socketPath: process.env.OFFICE_SOCKET, host: "office", port: 80, protocol: "http:" } as never, headers: { host: "office" } } }
      : undefined,
  },
});
