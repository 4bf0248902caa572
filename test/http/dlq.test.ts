import { deadLetterSuite } from "../suites/dlq.ts";
import { deliveryGround } from "../support/deliveries.ts";

deadLetterSuite(() => deliveryGround());
