export {
  DocumentRetriever,
  type DocumentRetrieverFields,
  MemoryRetriever,
  type MemoryRetrieverFields,
} from "./retrievers.ts";
export { sensoriumMCP } from "./tools.ts";
