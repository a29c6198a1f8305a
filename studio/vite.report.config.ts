import { defineConfig } from "vite";

// The figure of reports: one script, which a page carries compressed.
export default defineConfig({
  publicDir: false,
  build: {
    target: "es2022",
    outDir: "dist/report",
    lib: { entry: "src/report.ts", formats: ["iife"], name: "soleusFigure", fileName: () => "figure.js" },
  },
});
