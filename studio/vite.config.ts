import { defineConfig } from "vite";

// One script and one style sheet, with fixed names: a shared page carries them in itself, and the program embeds them.
export default defineConfig({
  base: "./",
  build: {
    target: "es2022",
    modulePreload: false,
    cssCodeSplit: false,
    chunkSizeWarningLimit: 2000,
    rollupOptions: {
      output: {
        entryFileNames: "studio.js",
        assetFileNames: "studio[extname]",
        inlineDynamicImports: true,
      },
    },
  },
  worker: { format: "es", rollupOptions: { output: { entryFileNames: "worker.js" } } },
});
